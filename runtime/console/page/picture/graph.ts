import type {
  IntrospectionObjectType,
  IntrospectionOutputTypeRef,
  IntrospectionQuery,
  IntrospectionType,
} from 'graphql'

export interface Graph {
  readonly types: readonly GraphType[]
  readonly relations: readonly Relation[]
}

export interface GraphType {
  readonly name: string
  readonly fields: readonly GraphField[]
}

export interface GraphField {
  readonly name: string
  /** In GraphQL notation. */
  readonly type: string
}

export interface Relation {
  readonly from: string
  readonly field: string
  readonly to: string
  /** True: to any number of rows. */
  readonly many: boolean
}

/** Every row type has a node id, and no other object has (spec: Node). */
const isRow = (type: IntrospectionType): type is IntrospectionObjectType =>
  type.kind === 'OBJECT' && type.interfaces.some(({ name }) => name === 'Node')

export function readGraph({ __schema: schema }: IntrospectionQuery): Graph {
  const byName = new Map(schema.types.map((type) => [type.name, type]))
  const rows = schema.types.filter(isRow)
  const all = rows.flatMap(({ name, fields }) =>
    fields.flatMap((field) => relationOf(byName, name, field.name, field.type) ?? []),
  )
  return {
    types: rows.map(({ name, fields }) => ({
      name,
      fields: fields.map((field) => ({ name: field.name, type: writeType(field.type) })),
    })),
    relations: all.filter((relation) => !isReverse(relation, all)),
  }
}

/**
 * The types whose name contains a text, ignoring case, and the relations between them.
 * @param withNear includes types that refer to these or are referred to by them
 */
export function filterGraph(graph: Graph, text: string, withNear: boolean): Graph {
  const wanted = text.trim().toLowerCase()
  if (wanted === '') return graph
  const names = graph.types.map(({ name }) => name)
  const found = new Set(names.filter((name) => name.toLowerCase().includes(wanted)))
  const touching = graph.relations.filter(({ from, to }) => found.has(from) || found.has(to))
  const shown = withNear ? new Set([...found, ...touching.flatMap(({ from, to }) => [from, to])]) : found
  return {
    types: graph.types.filter(({ name }) => shown.has(name)),
    relations: graph.relations.filter(({ from, to }) => shown.has(from) && shown.has(to)),
  }
}

/** A foreign key is a field on both sides: the referencing side is drawn. */
const isReverse = ({ from, to, many }: Relation, all: readonly Relation[]): boolean =>
  many && all.some((other) => !other.many && other.from === to && other.to === from)

type Types = ReadonlyMap<string, IntrospectionType>

function relationOf(types: Types, from: string, field: string, ref: IntrospectionOutputTypeRef): Relation | null {
  const type = types.get(nameOf(ref))
  if (type === undefined || type.kind !== 'OBJECT') return null
  if (isRow(type)) return { from, field, to: type.name, many: isList(ref) }
  const node = fieldType(types, fieldType(types, type, 'edges'), 'node')
  return node !== undefined && isRow(node) ? { from, field, to: node.name, many: true } : null
}

function fieldType(types: Types, type: IntrospectionType | undefined, name: string): IntrospectionType | undefined {
  const field = type?.kind === 'OBJECT' ? type.fields.find((one) => one.name === name) : undefined
  return field && types.get(nameOf(field.type))
}

const nameOf = (ref: IntrospectionOutputTypeRef): string =>
  ref.kind === 'LIST' || ref.kind === 'NON_NULL' ? nameOf(ref.ofType) : ref.name

const isList = (ref: IntrospectionOutputTypeRef): boolean =>
  ref.kind === 'LIST' || (ref.kind === 'NON_NULL' && isList(ref.ofType))

function writeType(ref: IntrospectionOutputTypeRef): string {
  if (ref.kind === 'NON_NULL') return `${writeType(ref.ofType)}!`
  return ref.kind === 'LIST' ? `[${writeType(ref.ofType)}]` : ref.name
}
