import {
  getNamedType,
  GraphQLIncludeDirective,
  GraphQLObjectType,
  GraphQLSchema,
  GraphQLSkipDirective,
  introspectionTypes,
  isUnionType,
  type GraphQLInterfaceType,
  type GraphQLNamedType,
  type OperationTypeNode,
} from 'graphql'
import type { CompositeFacts, FunctionFacts, Manifest, ObjectId, UnionFacts } from '../../contract/manifest.ts'
import { once } from '../../lib/caches.ts'
import { withoutMemories, type RoleMemory } from '../../lib/memo/memo.ts'
import type { EngineAdditions } from '../additions.ts'
import { visibleTo, withExposed, type RoleVisibility } from '../view.ts'
import type { CorePart } from '../../contract/name-parts.ts'
import { makeAggregate, makeFigureResult, makeConnection, makeEdge, makeFilter, makeOrderBy } from './collections.ts'
import { compositeMakers } from './composite-types.ts'
import { filterIs, listFilters, orderByDirection, scalarFilters, scalars } from './scalars.ts'
import { makeMutation, makeQuery, makeSubscription } from './roots.ts'
import { makeInterface, withInterface } from './interfaces.ts'
import { makeInterfacePart } from './interface-collections.ts'
import { makeRow } from './rows.ts'
import { createTypes, type MakePart, type SchemaTypes } from './types.ts'
import { makeInsertInput, makeResponse, makeUpdateInput } from './writes.ts'

/** The API of one role: a schema for validation and, on demand, one for printing and introspection. */
export interface RoleView {
  readonly role: string
  readonly visible: RoleVisibility
  /** Finds types on first use; for validation and planning. */
  readonly schema: GraphQLSchema
  /**
   * The schema of introspection (spec/graphql.md 12.1): complete, without objects of schemas that did not opt in. Made
   * once.
   */
  readonly introspected: () => GraphQLSchema
  /** Whether any served schema opted in to introspection. */
  readonly introspection: boolean
  /** The complete schema, for printing. */
  readonly complete: () => GraphQLSchema
}

const schemaConfig = ({ additions }: RoleVisibility) => ({
  directives: [
    GraphQLIncludeDirective,
    GraphQLSkipDirective,
    ...additions.flatMap(({ directives = [] }) => directives),
  ],
  assumeValid: true,
})

type Shared = ReadonlyMap<string, GraphQLNamedType>

const typesByName = (types: readonly GraphQLNamedType[]): Shared => new Map(types.map((type) => [type.name, type]))

const { GeoJSON: _geoJson, ...scalarsOfAll } = scalars
const sharedByAll = typesByName([
  ...Object.values(scalarsOfAll),
  ...scalarFilters.values(),
  ...listFilters.values(),
  filterIs,
  orderByDirection,
  ...introspectionTypes,
])

/** Types that do not depend on relations. */
function sharedTypes(visible: RoleVisibility, types: SchemaTypes): Shared {
  const { forms = [] } = visible.manifest
  const added = [
    ...visible.additions.flatMap(({ types = [] }) => types),
    ...forms.flatMap((form) => types.forms().types(form)),
  ]
  return added.length === 0 ? sharedByAll : typesByName([...sharedByAll.values(), ...added])
}

const coreMakers = (visible: RoleVisibility): Readonly<Record<CorePart, MakePart>> => ({
  row: makeRow(visible),
  connection: makeConnection,
  edge: makeEdge(visible),
  filter: makeFilter(visible),
  orderBy: makeOrderBy(visible),
  insertInput: makeInsertInput(visible),
  updateInput: makeUpdateInput(visible),
  insertResponse: makeResponse(visible, 'insertResponse', 'added'),
  updateResponse: makeResponse(visible, 'updateResponse', 'changed'),
  deleteResponse: makeResponse(visible, 'deleteResponse', 'removed'),
  aggregate: makeAggregate,
  sum: makeFigureResult(visible, 'sum'),
  avg: makeFigureResult(visible, 'avg'),
  min: makeFigureResult(visible, 'min'),
  max: makeFigureResult(visible, 'max'),
})

const typesOf = (visible: RoleVisibility): SchemaTypes =>
  createTypes(
    visible,
    Object.assign(coreMakers(visible), ...visible.additions.map((one) => one.makers?.(visible))),
    once(() => compositeMakers(visible)),
    (name, types) => makeInterface(visible, name, types),
    (name, part, types) => makeInterfacePart(visible, name, part, types),
  )

/** @param memory see visibleTo */
export function buildView(
  manifest: Manifest,
  role: string,
  additions: EngineAdditions,
  memory: RoleMemory = withoutMemories,
): RoleView {
  return roleViewOf(visibleTo(manifest, role, additions, memory))
}

/** The API of what a role may see. */
export function roleViewOf(visible: RoleVisibility): RoleView {
  const { manifest, role } = visible
  const types = typesOf(visible)
  const lazy = new LazySchema(visible, types)
  const introspection = manifest.schemas.some((schema) => schema.introspection)
  return {
    role,
    visible,
    schema: lazy,
    introspection,
    introspected: once(() => completeSchema(introspectedPart(visible))),
    complete: once(() => completeSchema(visible)),
  }
}

/**
 * The part for introspection (spec/graphql.md 12.1): without the relations, enums and functions of schemas that did not
 * opt in, and without fields of their types. Inputs stay complete, and names stay assigned.
 */
function introspectedPart(visible: RoleVisibility): RoleVisibility {
  const shown = new Set(visible.manifest.schemas.filter((schema) => schema.introspection).map((schema) => schema.name))
  const shows = (schema: string | undefined): boolean => schema !== undefined && shown.has(schema)
  const showsEntity = (id: ObjectId): boolean => shows(visible.entity(id)?.schema)
  const showsResult = ({ result }: FunctionFacts): boolean =>
    result.kind === 'row' || result.kind === 'set' ? showsEntity(result.entity) : true
  return withExposed({
    ...visible,
    exposed: visible.exposed.filter((entity) => shows(entity.schema)),
    insertOnly: visible.insertOnly.filter((entity) => shows(entity.schema)),
    exposes: (entity) => shows(entity.schema) && visible.exposes(entity),
    seesEnum: (item) => shows(item.schema) && visible.seesEnum(item),
    composite: (id) => (shows(visible.composite(id)?.schema) ? visible.composite(id) : undefined),
    seesColumn: (entity, column) =>
      (column.type?.kind !== 'enum' || shows(visible.enum(column.type.id)?.schema)) &&
      (column.type?.kind !== 'composite' || shows(visible.composite(column.type.id)?.schema)) &&
      visible.seesColumn(entity, column),
    seesRelation: (entity, relation) => showsEntity(relation.target) && visible.seesRelation(entity, relation),
    seesFunction: (fn) => shows(fn.schema) && showsResult(fn) && visible.seesFunction(fn),
    seesComputed: (entity, fn) => showsResult(fn) && visible.seesComputed(entity, fn),
  })
}

function completeSchema(visible: RoleVisibility): GraphQLSchema {
  const types = typesOf(visible)
  const enums = visible.manifest.enums.filter(visible.seesEnum)
  const composites = (visible.manifest.composites ?? []).filter(({ id }) => visible.composite(id) !== undefined)
  const all = [
    ...sharedTypes(visible, types).values(),
    types.node,
    types.pageInfo,
    ...visible.exposed.map(types.row),
    ...enums.flatMap((item) => [types.enum(item), types.enumFilter(item)]),
    ...composites.map(types.composite),
    ...composites.filter((item) => hasFilter(visible, item)).map(types.compositeFilter),
    ...(visible.names.listFilters ? enums.map(types.enumListFilter) : []),
  ]
  const mutation = makeMutation(visible, types)
  const subscription = makeSubscription(visible, types)
  const config = schemaConfig(visible)
  return new SortedSchema({
    ...config,
    directives: config.directives.toSorted(namesInOrder),
    description: 'The API of a Postgres database as the role of the caller sees it.',
    query: makeQuery(visible, types),
    ...(mutation && { mutation }),
    ...(subscription && { subscription }),
    types: all,
  })
}

interface Named {
  readonly name: string
}

const namesInOrder = (left: Named, right: Named): number =>
  left.name < right.name ? -1 : left.name > right.name ? 1 : 0

type TypeMap = ReturnType<GraphQLSchema['getTypeMap']>

// Without a prototype: a name such as "constructor" is not a type.
const typeMapOf = (types: readonly GraphQLNamedType[]): TypeMap =>
  Object.assign(Object.create(null), Object.fromEntries(types.map((type) => [type.name, type])))

/**
 * Introspection lists types, directives, and the types of an interface, by name (spec/graphql.md 12.2, 7.2). graphql-js keeps the
 * order in which it finds them, and making a schema of sorted types visits all of them again.
 */
class SortedSchema extends GraphQLSchema {
  readonly #sorted: TypeMap

  constructor(config: ConstructorParameters<typeof GraphQLSchema>[0]) {
    super(config)
    this.#sorted = typeMapOf(Object.values(super.getTypeMap()).sort(namesInOrder))
  }

  override getTypeMap(): TypeMap {
    return this.#sorted
  }

  override getImplementations(abstract: GraphQLInterfaceType): ReturnType<GraphQLSchema['getImplementations']> {
    const { objects, interfaces } = super.getImplementations(abstract)
    return { objects: objects.toSorted(namesInOrder), interfaces: interfaces.toSorted(namesInOrder) }
  }
}

function unionOf(row: GraphQLObjectType, { field, type }: UnionFacts): GraphQLNamedType | undefined {
  const shown = getNamedType(row.getFields()[field]?.type)
  return shown?.name === type ? shown : undefined
}

const hasFilter = (visible: RoleVisibility, item: CompositeFacts): boolean =>
  visible.comparableAttributes(item).length > 0

/**
 * A schema that knows its types by name without having made them. graphql-js collects every type when a schema is made;
 * with thousands of relations that takes longer than answering. Validation asks only for names of a document.
 */
class LazySchema extends GraphQLSchema {
  readonly #visible: RoleVisibility
  readonly #types: SchemaTypes
  readonly #shared: Shared
  readonly #query: GraphQLObjectType
  readonly #mutation: () => GraphQLObjectType | undefined
  readonly #subscription: () => GraphQLObjectType | undefined

  constructor(visible: RoleVisibility, types: SchemaTypes) {
    super({ ...schemaConfig(visible), query: new GraphQLObjectType({ name: 'Query', fields: {} }) })
    this.#visible = visible
    this.#types = types
    this.#shared = sharedTypes(visible, types)
    this.#query = makeQuery(visible, types)
    this.#mutation = once(() => makeMutation(visible, types))
    this.#subscription = once(() => makeSubscription(visible, types))
  }

  override getQueryType(): GraphQLObjectType {
    return this.#query
  }

  override getMutationType(): GraphQLObjectType | undefined {
    return this.#mutation()
  }

  override getSubscriptionType(): GraphQLObjectType | undefined {
    return this.#subscription()
  }

  override getRootType(operation: OperationTypeNode): GraphQLObjectType | undefined {
    const roots = { query: () => this.#query, mutation: this.#mutation, subscription: this.#subscription }
    return roots[operation]()
  }

  override getType(name: string): GraphQLNamedType | undefined {
    if (name === 'Query') return this.#query
    if (name === 'Mutation') return this.#mutation()
    if (name === 'Subscription') return this.#subscription()
    if (name === 'Node') return this.#types.node
    if (name === 'PageInfo') return this.#types.pageInfo
    const known = this.#shared.get(name)
    if (known !== undefined) return known
    const found = this.#visible.names.find(name)
    if (found === undefined) return undefined
    if (found.kind === 'entity') return this.#types.part(found.entity, found.part)
    if (found.kind === 'interface')
      return withInterface(this.#visible, name).length === 0 ? undefined : this.#types.interface(name)
    if (found.kind === 'collection') return this.#types.interfacePart(found.interface, found.part)
    if (found.kind === 'union') return unionOf(this.#types.row(found.entity), found.union)
    if ('composite' in found) {
      if (this.#visible.composite(found.composite.id) === undefined) return undefined
      if (found.kind === 'composite') return this.#types.composite(found.composite)
      return hasFilter(this.#visible, found.composite) ? this.#types.compositeFilter(found.composite) : undefined
    }
    if (!this.#visible.seesEnum(found.enum)) return undefined
    switch (found.kind) {
      case 'enum':
        return this.#types.enum(found.enum)
      case 'enum-filter':
        return this.#types.enumFilter(found.enum)
      case 'enum-list-filter':
        return this.#types.enumListFilter(found.enum)
    }
  }

  /** Names for suggestions: row types, and the types of every schema. Further types would be too many. */
  override getTypeMap(): TypeMap {
    const rows = this.#visible.exposed.map((entity) => this.#types.row(entity))
    const roots = [this.#query, this.#mutation(), this.#subscription()].filter((root) => root !== undefined)
    const all = [...this.#shared.values(), ...roots, this.#types.node, this.#types.pageInfo, ...rows]
    return typeMapOf(all)
  }

  override getPossibleTypes(abstract: Parameters<GraphQLSchema['getPossibleTypes']>[0]): readonly GraphQLObjectType[] {
    if (isUnionType(abstract)) return abstract.getTypes()
    const isNode = abstract === this.#types.node
    const all = isNode ? this.#visible.exposed : withInterface(this.#visible, abstract.name)
    return all.map((entity) => this.#types.row(entity))
  }

  override getImplementations(abstract: GraphQLInterfaceType): ReturnType<GraphQLSchema['getImplementations']> {
    return { objects: this.getPossibleTypes(abstract), interfaces: [] }
  }

  override isSubType(
    abstract: Parameters<GraphQLSchema['isSubType']>[0],
    type: Parameters<GraphQLSchema['isSubType']>[1],
  ): boolean {
    if (isUnionType(abstract)) return abstract.getTypes().some((member) => member === type)
    return type instanceof GraphQLObjectType && type.getInterfaces().some((one) => one === abstract)
  }
}
