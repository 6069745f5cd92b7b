import { Kind, parse, type OperationDefinitionNode } from 'graphql'
import { figure } from './aggregate.ts'
import { apiOf, apiTableOf, type ApiTable, type RowField } from './api.ts'
import { checkRoot } from './check.ts'
import { isSame } from './constraints.ts'
import { responses, selectionsOf, type Context, type Nodes } from './context.ts'
import { keyCondition, readFilter, readNodeToken } from './filter.ts'
import { cursorOf, readOrder, readPage, takePage, type Page, type Term } from './page.ts'
import { Refused } from './refusal.ts'
import { argument, collectFields, readScope } from './selection.ts'
import { visibleRows, type Row, type Store } from './store.ts'
import { encodeToken } from './tokens.ts'
import { toAnswer, toTokenText } from './types.ts'
import type { Json, Question, World } from './world.ts'
import { insert, remove, update, type Written } from './write.ts'

/**
 * The reference interpreter: what a document must answer, found by reading spec/graphql.md and walking rows one by one. It is slow and
 * obvious on purpose, and it expects valid documents: what no schema of the role has is an error of whoever asks.
 */
export interface Outcome {
  readonly answer: { readonly kind: 'data'; readonly data: Json } | { readonly kind: 'refused'; readonly reasons: readonly string[] }
  /** What is in the database afterwards; after a refusal what was in it before. */
  readonly store: Store
  /** Lists in `data` whose order nobody promises. */
  readonly unordered: ReadonlySet<Json>
}

export function interpret(world: World, store: Store, question: Question): Outcome {
  const unordered = new Set<Json>()
  try {
    const document = parse(question.document)
    const operations = document.definitions.filter((definition) => definition.kind === Kind.OPERATION_DEFINITION)
    const { operationName: wanted } = question
    const operation = operations.find((item) => wanted === null || item.name?.value === wanted)
    if (operation === undefined) throw new Error('the document has no such operation')
    const scope = readScope(document, operation, question.variables)
    const context = { world, api: apiOf(world, question.role), scope, claims: question.claims, unordered }
    const { data, after } = run(context, store, operation)
    return { answer: { kind: 'data', data }, store: after, unordered }
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    return { answer: { kind: 'refused', reasons: error.reasons }, store, unordered }
  }
}

/** Root fields one after the other; each mutation sees what those before it did (10.6). */
function run(context: Context, store: Store, operation: OperationDefinitionNode): { readonly data: Json; readonly after: Store } {
  const root = operation.operation === 'mutation' ? 'Mutation' : 'Query'
  const fields = [...collectFields(context.scope, root, false, [operation.selectionSet])]
  // Arguments are checked for all fields before anything runs.
  const reasons = fields.flatMap(([, nodes]) => checkRoot(context, root, nodes))
  if (reasons.length > 0) throw new Refused(...reasons)
  let after = store
  const members = fields.map(([key, nodes]): readonly [string, Json] => {
    if (nodes[0].name.value === '__typename') return [key, root]
    if (root === 'Query') return [key, queryField(context, after, nodes)]
    const written = mutationField(context, after, nodes)
    after = written.store
    return [key, written.answer]
  })
  return { data: Object.fromEntries(members), after }
}

/** Answers an object: each response key by what `resolve` says of its field. */
function object(context: Context, type: string, nodes: Nodes, resolve: (name: string, nodes: Nodes) => Json, isNode = false): Json {
  const fields = [...collectFields(context.scope, type, isNode, selectionsOf(nodes))]
  return Object.fromEntries(
    fields.map(([key, inner]) => {
      const name = inner[0].name.value
      return [key, name === '__typename' ? type : resolve(name, inner)]
    }),
  )
}

function queryField(context: Context, store: Store, nodes: Nodes): Json {
  const field = context.api.query.get(nodes[0].name.value)
  const arg = (name: string): Json | undefined => argument(context.scope, nodes[0], name)
  switch (field?.kind) {
    case 'node':
      return nodeField(context, store, nodes, String(arg('nodeId')))
    case 'collection':
      return collection(context, store, field.table, visibleRows(store, field.table.sketch, context.claims), nodes)
    case 'byKey': {
      const names = [...(field.table.keyArguments ?? new Map()).keys()]
      return single(context, store, field.table, names.map(arg), nodes)
    }
    default:
      throw new Error(`there is no field ${nodes[0].name.value}`)
  }
}

function nodeField(context: Context, store: Store, nodes: Nodes, token: string): Json {
  const { schema, name, keys } = readNodeToken(token)
  const table = context.api.tables.find((item) => schema === 'public' && item.sketch.name === name)
  if (table === undefined) throw new Refused('Collection referenced by nodeId did not match any known collection')
  return single(context, store, table, keys, nodes)
}

function single(context: Context, store: Store, table: ApiTable, keys: readonly (Json | undefined)[], nodes: Nodes): Json {
  const condition = keyCondition(context.world, table, keys)
  const found = visibleRows(store, table.sketch, context.claims).find((row) => condition(row) === true)
  return found === undefined ? null : rowObject(context, store, table, found, nodes)
}

/** Nested fields are read from `store`, the row itself may be newer (10.5). */
function rowObject(context: Context, store: Store, table: ApiTable, row: Row, nodes: Nodes): Json {
  return object(context, table.type, nodes, (name, inner) => rowField(context, store, table, row, fieldOf(table, name), inner), true)
}

function fieldOf(table: ApiTable, name: string): RowField {
  const field = table.fields.get(name)
  if (field === undefined) throw new Error(`${table.type} has no field ${name}`)
  return field
}

function rowField(context: Context, store: Store, table: ApiTable, row: Row, field: RowField, nodes: Nodes): Json {
  switch (field.kind) {
    case 'nodeId':
      return nodeIdOf(table, row)
    case 'column':
      return toAnswer(context.world, field.column.type, row.get(field.column.name) ?? null)
    case 'relation': {
      const target = apiTableOf(context.api, field.target)
      const related = visibleRows(store, target.sketch, context.claims).filter((other) =>
        isSame(context.world, table.sketch, field.local, row, field.foreign, other),
      )
      if (field.many) return collection(context, store, target, related, nodes)
      const [first] = related
      return first === undefined ? null : rowObject(context, store, target, first, nodes)
    }
  }
}

export const nodeIdOf = (table: ApiTable, row: Row): string =>
  encodeToken([
    JSON.stringify('public'),
    JSON.stringify(table.sketch.name),
    ...table.key.map((column) => toTokenText(column.type, row.get(column.name) ?? null)),
  ])

interface Collection {
  readonly table: ApiTable
  readonly order: readonly Term[]
  readonly page: Page
  /** All that match, whatever the page. */
  readonly matching: readonly Row[]
}

function collection(context: Context, store: Store, table: ApiTable, candidates: readonly Row[], nodes: Nodes): Json {
  const arg = (name: string): Json | undefined => argument(context.scope, nodes[0], name)
  const condition = readFilter(context.world, table, arg('filter'))
  const order = readOrder(table, arg('orderBy'))
  const matching = candidates.filter((row) => condition === null || condition(row) === true)
  const page = takePage(context.world, table, order, readPage(arg, order), matching)
  const found: Collection = { table, order, page, matching }
  return object(context, `${table.type}Connection`, nodes, (name, inner) => connectionField(context, store, found, name, inner))
}

function connectionField(context: Context, store: Store, found: Collection, name: string, nodes: Nodes): Json {
  const { table, order, page, matching } = found
  switch (name) {
    case 'edges':
      return page.rows.map((row) =>
        object(context, `${table.type}Edge`, nodes, (member, inner) =>
          member === 'cursor' ? cursorOf(order, row) : rowObject(context, store, table, row, inner),
        ),
      )
    case 'pageInfo':
      return object(context, 'PageInfo', nodes, (member) => pageInfo(found, member))
    case 'totalCount':
      return matching.length
    default:
      return aggregate(context, table, matching, nodes)
  }
}

function pageInfo({ order, page }: Collection, member: string): Json {
  const [first, last] = [page.rows[0], page.rows[page.rows.length - 1]]
  switch (member) {
    case 'startCursor':
      return first === undefined ? null : cursorOf(order, first)
    case 'endCursor':
      return last === undefined ? null : cursorOf(order, last)
    case 'hasNextPage':
      return page.hasNextPage
    default:
      return page.hasPreviousPage
  }
}

function aggregate(context: Context, table: ApiTable, rows: readonly Row[], nodes: Nodes): Json {
  return object(context, `${table.type}Aggregate`, nodes, (name, inner) => {
    if (name === 'count') return rows.length
    const figureName = name as 'sum'
    const type = `${table.type}${name.charAt(0).toUpperCase()}${name.slice(1)}AggregateResult`
    return object(context, type, inner, (member) => {
      const column = table.aggregates.get(figureName)?.get(member)
      if (column === undefined) throw new Error(`${type} has no field ${member}`)
      return figure(context.world, figureName, column, rows)
    })
  })
}

const writes = { insert, update, delete: remove }

function mutationField(context: Context, store: Store, nodes: Nodes): { readonly store: Store; readonly answer: Json } {
  const field = context.api.mutation.get(nodes[0].name.value)
  if (field?.kind !== 'insert' && field?.kind !== 'update' && field?.kind !== 'delete') {
    throw new Error(`there is no field ${nodes[0].name.value}`)
  }
  const { kind, table } = field
  const arg = (name: string): Json | undefined => argument(context.scope, nodes[0], name)
  const written: Written = writes[kind](context.world, store, table, context.claims, arg)
  const answer = object(context, `${table.type}${responses[kind]}`, nodes, (name, inner) => {
    if (name === 'affectedCount') return written.records.length
    const records = written.records.map((row) => rowObject(context, store, table, row, inner))
    // Inserted rows are answered in the order of the input, others in any (10.5).
    if (kind !== 'insert') context.unordered.add(records)
    return records
  })
  return { store: written.store, answer }
}
