import {
  getNamedType,
  isInterfaceType,
  isObjectType,
  Kind,
  type FieldNode,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLSchema,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql'
import type { EntityFacts } from '../../contract/manifest.ts'
import { meaningOf } from '../../engine/meaning.ts'
import { leastPage } from '../../engine/schema/interface-collections.ts'
import type { RoleView } from '../../engine/schema/schema.ts'
import type { RoleVisibility } from '../../engine/view.ts'
import { refuse } from '../protocol/failures.ts'
import type { Operation } from '../operation/operation.ts'
import { argumentName } from '../../engine/related-changes.ts'
import { toInput, type Input, type Variables } from '../plan/input.ts'
import { insertedRows, namesRelated } from '../plan/nested.ts'
import { relatedRows } from '../plan/related-changes.ts'

/** `limits.rows` (spec/graphql.md 17), held before a document is planned. @throws Refusal */
export function checkRows(view: RoleView, operation: Operation, variables: Variables): void {
  const limit = view.visible.manifest.limits?.rows ?? null
  if (limit === null) return
  const rows = countRows(view, operation, variables)
  if (rows > limit) {
    throw refuse(
      'ROW_LIMIT_EXCEEDED',
      `The document may select ${Number.isSafeInteger(rows) ? rows : 'more than 9007199254740991'} rows; at most ${limit} are allowed.`,
    )
  }
}

/**
 * The rows that a document may read.
 *
 * Each mention of a field counts, also one that a directive would skip, as the limits of spec/graphql.md, decision 10
 * count. The number of a fragment is computed once, so the cost grows with the document and not with its expansion.
 */
export function countRows(view: RoleView, operation: Operation, variables: Variables): number {
  const root = view.schema.getRootType(operation.node.operation) ?? undefined
  return sumOf(createCounter(view, operation, variables)(root, operation.node.selectionSet))
}

type Count = (type: GraphQLNamedType | undefined, set: SelectionSetNode | undefined) => Rows

/** Rows below a field: for each row of its page, and for the page as a whole. */
interface Rows {
  readonly each: number
  readonly whole: number
}

const noRows: Rows = { each: 0, whole: 0 }
const sumOf = ({ each, whole }: Rows): number => each + whole

function createCounter({ schema, visible }: RoleView, { fragments }: Operation, variables: Variables): Count {
  const { values } = variables
  const known = new Map<string, Rows>()
  const ofFragment = (name: string): Rows => {
    const fragment = fragments.get(name)
    if (fragment === undefined) return noRows
    const rows = known.get(name) ?? ofSet(typeNamed(schema, fragment.typeCondition.name.value), fragment.selectionSet)
    known.set(name, rows)
    return rows
  }
  const ofField = (type: GraphQLNamedType | undefined, node: FieldNode): Rows => {
    const field = isObjectType(type) || isInterfaceType(type) ? type.getFields()[node.name.value] : undefined
    // __typename and introspection read no rows.
    if (field === undefined) return noRows
    const inner = ofSet(getNamedType(field.type), node.selectionSet)
    const pages = pagesOf(field, visible.entity)
    if (pages === null) return { each: sumOf(inner) + nestedRows(visible, field, node, variables), whole: 0 }
    const rows = times(pageSize(pages, node, values), 1 + inner.each) + inner.whole
    // Groups are of all pages of their collection together.
    return meaningOf(field).kind === 'member' ? { each: 0, whole: rows } : { each: rows, whole: 0 }
  }
  const ofSelection = (type: GraphQLNamedType | undefined, selection: SelectionNode): Rows => {
    if (selection.kind === Kind.FIELD) return ofField(type, selection)
    if (selection.kind === Kind.FRAGMENT_SPREAD) return ofFragment(selection.name.value)
    const condition = selection.typeCondition?.name.value
    return ofSet(condition === undefined ? type : typeNamed(schema, condition), selection.selectionSet)
  }
  const ofSet: Count = (type, set) => {
    let [each, whole] = [0, 0]
    for (const selection of set?.selections ?? []) {
      const rows = ofSelection(type, selection)
      each += rows.each
      whole += rows.whole
    }
    return { each, whole }
  }
  return ofSet
}

const typeNamed = (schema: GraphQLSchema, name: string): GraphQLNamedType | undefined => schema.getType(name)

/** No rows times the number below them is none, even if that number is infinite. */
const times = (page: number, each: number): number => (page === 0 ? 0 : page * each)

type Pages = Pick<EntityFacts, 'maxRows'>

/** The relation whose pages a field answers, or null. */
function pagesOf(field: GraphQLField<unknown, unknown>, entity: RoleView['visible']['entity']): Pages | null {
  const meaning = meaningOf(field)
  switch (meaning.kind) {
    case 'collection':
      return meaning.entity
    case 'collections':
      return { maxRows: leastPage(meaning.of) }
    case 'relation':
      return meaning.relation.shape === 'many' ? meaning.target : null
    case 'call':
    case 'computed': {
      const { result } = meaning.function
      return result.kind === 'set' ? (entity(result.entity) ?? null) : null
    }
    case 'member':
      return meaning.pages ?? null
    case 'by-key':
    case 'node':
    case 'insert':
    case 'update':
    case 'delete':
    case 'update-row':
    case 'delete-row':
    case 'update-rows':
    case 'node-id':
    case 'column':
    case 'headline':
    case 'union':
    case 'between':
    case 'attribute':
      return null
  }
}

/** The rows that a change of related ones names (spec/graphql.md 17.6). */
function nestedRows(
  visible: RoleVisibility,
  field: GraphQLField<unknown, unknown>,
  node: FieldNode,
  variables: Variables,
): number {
  const meaning = meaningOf(field)
  const given = (name: string): Input => {
    const argument = field.args.find((one) => one.name === name)
    const value = node.arguments?.find((one) => one.name.value === name)?.value
    return argument === undefined ? { kind: 'absent' } : toInput(argument, value, variables)
  }
  if (meaning.kind === 'update-row') return relatedRows(visible, meaning.entity, given(argumentName))
  if (meaning.kind !== 'insert') return 0
  const objects = given('objects')
  return namesRelated(visible, meaning.entity, objects) ? insertedRows(visible, meaning.entity, objects) : 0
}

function pageSize({ maxRows }: Pages, node: FieldNode, values: Variables['values']): number {
  const asked = countGiven(node, 'first', values) ?? countGiven(node, 'last', values) ?? maxRows
  return Math.min(asked, maxRows)
}

/** A count as the document or its variables give it; what is no count is refused when it is planned. */
function countGiven(node: FieldNode, name: string, values: Variables['values']): number | null {
  const given = node.arguments?.find((argument) => argument.name.value === name)?.value
  const value =
    given?.kind === Kind.VARIABLE ? values[given.name.value] : given?.kind === Kind.INT ? given.value : undefined
  const count = value === null || value === undefined ? Number.NaN : Number(value)
  return count >= 0 ? count : null
}
