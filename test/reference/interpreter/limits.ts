import { Kind, type FieldNode, type OperationDefinitionNode, type SelectionSetNode } from 'graphql'
import type { Api, ApiTable } from './api-types.ts'
import { apiTableOf } from './api.ts'
import { linkOf } from './check.ts'
import { responses, type Context } from './context.ts'
import { namesRelated, rowsIn } from './nested.ts'
import { relatedRowsIn } from './related-changes.ts'
import { argument } from './selection.ts'

/**
 * `limits` (spec/graphql.md 17), counted with fragments expanded: the selections of a document, and its maximum number
 * of rows. Directives change nothing; a repeated field counts twice.
 */
export function checkLimits(context: Context, operation: OperationDefinitionNode): readonly string[] {
  const { limits } = context.world
  if (limits === undefined) return []
  const root = operation.operation === 'mutation' ? 'Mutation' : 'Query'
  const fields = countFields(context, operation.selectionSet)
  if (limits.fields !== null && fields > limits.fields) {
    return [
      `The document selects ${fields} fields after its fragments are expanded; at most ${limits.fields} are allowed.`,
    ]
  }
  const rows = countRows(context, root, operation.selectionSet)
  if (limits.rows === null || rows <= limits.rows) return []
  return [`The document may select ${rows} rows; at most ${limits.rows} are allowed.`]
}

/** The fields of a selection set, fragments expanded, each with its parent type. */
function expanded(context: Context, type: string, set: SelectionSetNode): readonly (readonly [string, FieldNode])[] {
  return set.selections.flatMap((selection) => {
    if (selection.kind === Kind.FIELD) return [[type, selection] as const]
    const fragment =
      selection.kind === Kind.FRAGMENT_SPREAD ? context.scope.fragments.get(selection.name.value) : selection
    if (fragment === undefined) return []
    return expanded(context, fragment.typeCondition?.name.value ?? type, fragment.selectionSet)
  })
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0)

const countFields = (context: Context, set: SelectionSetNode | undefined): number =>
  set === undefined
    ? 0
    : sum(expanded(context, '', set).map(([, field]) => 1 + countFields(context, field.selectionSet)))

const countRows = (context: Context, type: string, set: SelectionSetNode | undefined): number =>
  set === undefined ? 0 : sum(expanded(context, type, set).map(([owner, field]) => fieldRows(context, owner, field)))

function fieldRows(context: Context, owner: string, field: FieldNode): number {
  const grouped = context.api.tables.find(({ type }) => owner === `${type}Grouped`)
  if (grouped !== undefined && field.name.value === 'values') return listedRows(context, grouped, field)
  const { type, pagesOf } = leadsTo(context.api, owner, field.name.value)
  const inside = countRows(context, type, field.selectionSet)
  if (pagesOf === null) {
    if (owner === 'Mutation') return answeredBy(context, field) * inside + insertedBy(context, owner, field)
    return inside + (isRecords(context, owner, field) ? 1 : 0)
  }
  // Groups are of the collection, not of each of its rows: they count beside its page.
  const beside = groupRows(context, type, field.selectionSet)
  const asked = argument(context.scope, field, 'first') ?? argument(context.scope, field, 'last') ?? pagesOf.maxRows
  // A negative count is refused elsewhere.
  const page = Math.min(Number(asked) < 0 ? pagesOf.maxRows : Number(asked), pagesOf.maxRows)
  return page + page * (inside - beside) + beside
}

/** Each column that is mentioned answers a list of its own. */
function listedRows(context: Context, table: ApiTable, field: FieldNode): number {
  const columns = field.selectionSet === undefined ? [] : expanded(context, '', field.selectionSet)
  const asked = Number(argument(context.scope, field, 'atMost'))
  const atMost = asked < 0 ? table.maxRows : Math.min(asked, table.maxRows)
  return atMost * columns.filter(([, { name }]) => name.value !== '__typename').length
}

/** A row of the answer of a mutation of many. */
const isRecords = ({ api }: Context, owner: string, field: FieldNode): boolean =>
  field.name.value === 'records' &&
  api.tables.some(({ type }) => Object.values(responses).some((part) => owner === `${type}${part}`))

/** The maximum number of rows in a mutation's answer; 1 for one row or a function. */
function answeredBy(context: Context, field: FieldNode): number {
  const root = context.api.mutation.get(field.name.value)
  if (root?.kind === 'insert') {
    const objects = argument(context.scope, field, 'objects')
    return Array.isArray(objects) ? objects.length : 1
  }
  const isMany = root?.kind === 'update' || root?.kind === 'updateRows' || root?.kind === 'delete'
  const atMost = isMany ? Number(argument(context.scope, field, 'atMost') ?? 1) : 1
  return atMost < 0 ? 1 : atMost
}

/** The rows in the input, related ones included. */
function insertedBy(context: Context, owner: string, field: FieldNode): number {
  const root = owner === 'Mutation' ? context.api.mutation.get(field.name.value) : undefined
  if (root?.kind === 'updateRow') return relatedRowsIn(context, root, (name) => argument(context.scope, field, name))
  if (root?.kind !== 'insert') return 0
  const objects = argument(context.scope, field, 'objects')
  return namesRelated(context, root.table, objects) ? rowsIn(context, root.table, objects) : 0
}

/** The groups that stand in a connection. */
const groupRows = (context: Context, type: string, set: SelectionSetNode | undefined): number =>
  set === undefined || !type.endsWith('Connection')
    ? 0
    : sum(
        expanded(context, type, set).map(([owner, field]) =>
          leadsTo(context.api, owner, field.name.value).type.endsWith('Grouped') ? fieldRows(context, owner, field) : 0,
        ),
      )

interface Target {
  /** The type of the field's value. */
  readonly type: string
  /** The element type, if it is a collection. */
  readonly pagesOf: Pick<ApiTable, 'maxRows'> | null
}

function leadsTo(api: Api, owner: string, field: string): Target {
  const row = (table: ApiTable): Target => ({ type: table.type, pagesOf: null })
  const pages = (table: ApiTable): Target => ({ type: `${table.type}Connection`, pagesOf: table })
  const linked = (target: string, many: boolean): Target => (many ? pages : row)(apiTableOf(api, target))
  if (owner === 'Query' || owner === 'Mutation') {
    const root = (owner === 'Query' ? api.query : api.mutation).get(field)
    if (root?.kind === 'collection') return pages(root.table)
    if (root?.kind === 'collections') {
      const { name, maxRows } = root.collected
      return { type: `${name}Connection`, pagesOf: { maxRows } }
    }
    const isRow = root?.kind === 'byKey' || root?.kind === 'lookup'
    if (isRow || root?.kind === 'updateRow' || root?.kind === 'deleteRow') return row(root.table)
    if (root?.kind === 'updateRows') return { type: `${root.table.type}${responses.update}`, pagesOf: null }
    if (root?.kind === 'insert' || root?.kind === 'update' || root?.kind === 'delete')
      return { type: `${root.table.type}${responses[root.kind]}`, pagesOf: null }
    const body = root?.kind === 'call' ? root.function.body : undefined
    return body?.kind === 'rows' || body?.kind === 'row' ? linked(body.table, body.kind === 'rows') : nothing
  }
  const table = api.tables.find(({ type }) => type === owner)
  const found = table?.fields.get(field)
  if (found?.kind === 'union') return { type: found.type, pagesOf: null }
  const link = found === undefined ? null : linkOf(found)
  if (link !== null) return linked(link.target, link.many)
  const collected = api.collected.find(({ name }) => [`${name}Connection`, `${name}Edge`].includes(owner))
  if (collected !== undefined)
    return field === 'edges' || field === 'node'
      ? { type: field === 'edges' ? `${collected.name}Edge` : collected.name, pagesOf: null }
      : nothing
  // Of the types that wrap rows only these members hold rows.
  const wrapped = api.tables.find(({ type }) =>
    ['Connection', 'Edge', ...Object.values(responses)].some((part) => owner === `${type}${part}`),
  )
  if (table !== undefined || wrapped === undefined) return nothing
  if (field === 'groups') return { type: `${wrapped.type}Grouped`, pagesOf: wrapped }
  if (field === 'edges') return { type: `${wrapped.type}Edge`, pagesOf: null }
  const between = owner.endsWith('Edge') ? wrapped.between.get(field) : undefined
  if (between !== undefined) return linked(between, false)
  return field === 'node' || field === 'records' ? row(wrapped) : nothing
}

const nothing: Target = { type: '', pagesOf: null }
