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
import type { EntityFacts, Manifest } from '../../contract/manifest.ts'
import { meaningOf, type FieldMeaning } from '../../engine/meaning.ts'
import { leastPage } from '../../engine/schema/interface-collections.ts'
import type { RoleView } from '../../engine/schema/schema.ts'
import type { RoleVisibility } from '../../engine/view.ts'
import type { Operation } from '../operation/operation.ts'
import { toInput, type Args, type Variables } from '../plan/input.ts'
import { sizeOf, type SizedPage } from './row-terms.ts'

/** `limits.rows` of all served schemas (spec/graphql.md 17); null: no limit. */
export const rowLimitOf = ({ limits }: Pick<Manifest, 'limits'>): number | null => limits?.rows ?? null

/**
 * The maximum number of rows that a document reads. Each mention of a field counts, also one that a directive would
 * skip (spec/graphql.md, decision 10). A fragment is counted once: the cost does not grow with its expansion.
 *
 *   { authorCollection(first: $n) { edges { node { postCollection(first: 5) { edges { node { id } } } } } } }
 *     ofField(id)                    each: none
 *     ofField(postCollection)        each: paged(5, plus(one, none))               5
 *     ofField(authorCollection)      each: paged($n, plus(one, 5 rows))            6 * $n
 *   Rows of a page, `each`, are multiplied by the pages around it; those of its groups, `whole`, only outside of it.
 *
 *   countRows   Counting<number>, with variables          ─> checkSum     a document of this request
 *   termsOf     Counting<Terms>, commands/compiled        ─> checkTerms   a compiled document: later variables
 */
export const countRows = (view: RoleView, operation: Operation, variables: Variables): number =>
  countIn(view, operation, {
    none: 0,
    one: 1,
    plus: (some, more) => some + more,
    paged: (page, each) => times(sizeOf(page, variables.values), each),
    named: (field, node) => nestedRows(view.visible, field, node, variables),
  })

/** An algebra of row counts: numbers, or terms of page sizes. */
export interface Counting<T> {
  readonly none: T
  readonly one: T
  readonly plus: (some: T, more: T) => T
  /** Multiplies by the rows of a page. */
  readonly paged: (page: SizedPage, each: T) => T
  /** The related rows in the arguments of a field. */
  readonly named: (field: GraphQLField<unknown, unknown>, node: FieldNode) => T
}

/** The maximum number of rows that a document reads, in a given algebra. */
export function countIn<T>(view: RoleView, operation: Operation, counting: Counting<T>): T {
  const root = view.schema.getRootType(operation.node.operation) ?? undefined
  const { each, whole } = createCounter(view, operation, counting)(root, operation.node.selectionSet)
  return counting.plus(each, whole)
}

type Count<T> = (type: GraphQLNamedType | undefined, set: SelectionSetNode | undefined) => Rows<T>

/** Rows below a field: for each row of its page, and for the page as a whole. */
interface Rows<T> {
  readonly each: T
  readonly whole: T
}

function createCounter<T>(
  { schema, visible }: RoleView,
  { fragments }: Operation,
  { none, one, plus, paged, named }: Counting<T>,
): Count<T> {
  const noRows: Rows<T> = { each: none, whole: none }
  const known = new Map<string, Rows<T>>()
  const ofFragment = (name: string): Rows<T> => {
    const fragment = fragments.get(name)
    if (fragment === undefined) return noRows
    const rows = known.get(name) ?? ofSet(typeNamed(schema, fragment.typeCondition.name.value), fragment.selectionSet)
    known.set(name, rows)
    return rows
  }
  const ofField = (type: GraphQLNamedType | undefined, node: FieldNode): Rows<T> => {
    const field = isObjectType(type) || isInterfaceType(type) ? type.getFields()[node.name.value] : undefined
    // __typename and introspection read no rows.
    if (field === undefined) return noRows
    const { each, whole } = ofSet(getNamedType(field.type), node.selectionSet)
    const meaning = meaningOf(field)
    const member = meaning.kind === 'member' ? meaning.member : null
    // Written rows are counted by the input of the mutation.
    if (member === 'records') return { each: plus(one, plus(each, whole)), whole: none }
    const written = recordsOf(meaning, node)
    if (written !== null) return { each: plus(paged(written, plus(each, whole)), named(field, node)), whole: none }
    const pages = pagesOf(field, visible.entity)
    if (pages === null) return { each: plus(plus(each, whole), named(field, node)), whole: none }
    if (meaning.kind === 'member' && meaning.each !== undefined)
      return { each: paged(pageSize(pages, node, [meaning.each]), columns(node)), whole: none }
    const rows = plus(paged(pageSize(pages, node, ['first', 'last']), plus(one, each)), whole)
    // Groups are of all pages of their collection together.
    return member === null ? { each: rows, whole: none } : { each: none, whole: rows }
  }
  /** The lists of a group's values: one for each column. */
  const columns = (node: { readonly selectionSet?: SelectionSetNode | undefined }): T =>
    (node.selectionSet?.selections ?? []).reduce((sum, selection) => {
      if (selection.kind === Kind.FIELD) return selection.name.value === '__typename' ? sum : plus(sum, one)
      const inner = selection.kind === Kind.FRAGMENT_SPREAD ? fragments.get(selection.name.value) : selection
      return inner === undefined ? sum : plus(sum, columns(inner))
    }, none)
  const ofSelection = (type: GraphQLNamedType | undefined, selection: SelectionNode): Rows<T> => {
    if (selection.kind === Kind.FIELD) return ofField(type, selection)
    if (selection.kind === Kind.FRAGMENT_SPREAD) return ofFragment(selection.name.value)
    const condition = selection.typeCondition?.name.value
    return ofSet(condition === undefined ? type : typeNamed(schema, condition), selection.selectionSet)
  }
  const ofSet: Count<T> = (type, set) => {
    let { each, whole } = noRows
    for (const selection of set?.selections ?? []) {
      const rows = ofSelection(type, selection)
      each = plus(each, rows.each)
      whole = plus(whole, rows.whole)
    }
    return { each, whole }
  }
  return ofSet
}

const typeNamed = (schema: GraphQLSchema, name: string): GraphQLNamedType | undefined => schema.getType(name)

/** Zero rows times the number below them is zero, even if that number is infinite. */
const times = (page: number, each: number): number => (page === 0 ? 0 : page * each)

type Pages = Pick<EntityFacts, 'maxRows'>

/** The relation whose pages a field returns, or null. */
function pagesOf(field: GraphQLField<unknown, unknown>, entity: RoleView['visible']['entity']): Pages | null {
  const meaning = meaningOf(field)
  if (meaning.kind === 'collection') return meaning.entity
  if (meaning.kind === 'collections') return { maxRows: leastPage(meaning.of) }
  if (meaning.kind === 'relation') return meaning.relation.shape === 'many' ? meaning.target : null
  if (meaning.kind === 'member') return meaning.pages ?? null
  const result = meaning.kind === 'call' || meaning.kind === 'computed' ? meaning.function.result : null
  return result?.kind === 'set' ? (entity(result.entity) ?? null) : null
}

/** The rows in the input of a change of related rows (spec/graphql.md 17.6). */
function nestedRows(
  visible: RoleVisibility,
  field: GraphQLField<unknown, unknown>,
  node: FieldNode,
  variables: Variables,
): number {
  const given: Args = (name) => {
    const argument = field.args.find((one) => one.name === name)
    const value = node.arguments?.find((one) => one.name.value === name)?.value
    return argument === undefined ? { kind: 'absent' } : toInput(argument, value, variables)
  }
  const meaning = meaningOf(field)
  return visible.additions.reduce((sum, one) => sum + (one.namedRows?.(visible, meaning)?.(given) ?? 0), 0)
}

declare module '../../engine/additions.ts' {
  interface SchemaAddition {
    /** Counts the rows that the arguments of a field name; undefined: they name none. */
    readonly namedRows?: (visible: RoleVisibility, meaning: FieldMeaning) => ((given: Args) => number) | undefined
  }
}

const pageSize = ({ maxRows }: Pages, node: FieldNode, names: readonly string[]): SizedPage => ({
  asked: names.flatMap((name) => askedBy(node, name)),
  most: maxRows,
})

/** The maximum of a GraphQL Int: a mutation has no other bound. */
const mostWritten = 2_147_483_647

/** The rows that a mutation may return as its `records`, or null. */
function recordsOf({ kind }: FieldMeaning, node: FieldNode): SizedPage | null {
  const isWrite = kind === 'insert' || kind === 'update' || kind === 'update-rows' || kind === 'delete'
  if (!isWrite) return null
  return { asked: [...askedBy(node, kind === 'insert' ? 'objects' : 'atMost'), 1], most: mostWritten }
}

/** The count in the document: a variable, a number from 0, or the length of a list. */
function askedBy(node: FieldNode, name: string): SizedPage['asked'] {
  const given = node.arguments?.find((argument) => argument.name.value === name)?.value
  if (given?.kind === Kind.VARIABLE) return [given.name.value]
  if (given?.kind === Kind.LIST) return [given.values.length]
  // A negative one is refused when it is planned.
  return given?.kind === Kind.INT && Number(given.value) >= 0 ? [Number(given.value)] : []
}
