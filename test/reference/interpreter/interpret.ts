import { Kind, parse, type OperationDefinitionNode } from 'graphql'
import { callField, queryField, rowObject } from './answer.ts'
import type { ApiTable, RowWrite } from './api-types.ts'
import { apiOf } from './api.ts'
import { checkRoot } from './check.ts'
import { responses, selectionsOf, type Context, type Nodes } from './context.ts'
import { checkLimits } from './limits.ts'
import { insertNested, namesRelated } from './nested.ts'
import { object } from './objects.ts'
import { Refused } from './refusal.ts'
import { mayRun } from './allowlist.ts'
import { argument, collectFields, readScope } from './selection.ts'
import { namesRelatedRows, updateRelated } from './related-changes.ts'
import type { Row, Store } from './store.ts'
import type { Json, Question, World } from './world.ts'
import { insert, remove, update, writeRow, writeRows, type Written } from './write.ts'

/**
 * The reference interpreter: the right answer of a document, by the rules of spec/graphql.md, row by row. It is slow
 * and simple on purpose, and it expects valid documents: a field that the role's schema lacks is an error of the
 * caller.
 */
export interface Outcome {
  readonly answer:
    | { readonly kind: 'data'; readonly data: Json }
    | { readonly kind: 'refused'; readonly reasons: readonly string[] }
  /** The rows afterwards; after a refusal the rows before. */
  readonly store: Store
  /** Lists in `data` whose order is not specified. */
  readonly unordered: ReadonlySet<Json>
  /** SQLSTATEs of further possible refusals: Postgres checks unique keys row by row. */
  readonly meanwhile: ReadonlySet<string>
}

export function interpret(world: World, store: Store, question: Question): Outcome {
  const unordered = new Set<Json>()
  const meanwhile = new Set<string>()
  try {
    if (!mayRun(world, question)) throw new Refused('DOCUMENT_NOT_LISTED')
    const document = parse(question.document)
    const operations = document.definitions.filter((definition) => definition.kind === Kind.OPERATION_DEFINITION)
    const { operationName: wanted } = question
    const operation = operations.find((item) => wanted === null || item.name?.value === wanted)
    if (operation === undefined) throw new Error('the document has no such operation')
    const api = apiOf(world, question.role)
    const scope = readScope(document, operation, question.variables, api)
    const context = { world, api, scope, claims: question.claims, unordered, meanwhile }
    const exceeded = checkLimits(context, operation)
    if (exceeded.length > 0) throw new Refused(...exceeded)
    const { data, after } = run(context, store, operation)
    return { answer: { kind: 'data', data }, store: after, unordered, meanwhile }
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    return { answer: { kind: 'refused', reasons: [...error.reasons, ...meanwhile] }, store, unordered, meanwhile }
  }
}

/** Root fields in order; each mutation sees the earlier ones (spec/graphql.md 10.6). */
function run(
  context: Context,
  store: Store,
  operation: OperationDefinitionNode,
): { readonly data: Json; readonly after: Store } {
  // A subscription is answered as a query (spec/graphql.md 16).
  const root = operation.operation === 'mutation' ? 'Mutation' : 'Query'
  const type = operation.operation === 'subscription' ? 'Subscription' : root
  const fields = [...collectFields(context.scope, root, [operation.selectionSet])]
  // Arguments are checked for all fields before anything runs.
  const reasons = fields.flatMap(([, nodes]) => checkRoot(context, root, nodes))
  if (reasons.length > 0) throw new Refused(...reasons)
  let after = store
  const members = fields.map(([key, nodes]): readonly [string, Json] => {
    if (nodes[0].name.value === '__typename') return [key, type]
    if (root === 'Query') return [key, queryField(context, after, nodes)]
    if (context.api.mutation.get(nodes[0].name.value)?.kind === 'call')
      return [key, callField(context, after, nodes, context.api.mutation)]
    const written = mutationField(context, after, nodes)
    after = written.store
    return [key, written.answer]
  })
  return { data: Object.fromEntries(members), after }
}

const writes = { insert, update, delete: remove }

/** The nodes of each mention of `records`. */
const selectedRecords = ({ scope }: Context, response: string, nodes: Nodes): readonly Nodes[] =>
  [...collectFields(scope, response, selectionsOf(nodes)).values()].filter(([first]) => first.name.value === 'records')

const namesIn = ({ scope }: Context, type: string, nodes: Nodes): readonly string[] =>
  Array.from(collectFields(scope, type, selectionsOf(nodes)).values(), ([first]) => first.name.value)

interface Answered {
  readonly store: Store
  readonly answer: Json
}

function mutationField(context: Context, store: Store, nodes: Nodes): Answered {
  const field = context.api.mutation.get(nodes[0].name.value)
  if (field?.kind === 'updateRow' || field?.kind === 'deleteRow') return rowField(context, store, field, nodes)
  if (field?.kind === 'updateRows') return rowsField(context, store, field, nodes)
  if (field?.kind !== 'insert' && field?.kind !== 'update' && field?.kind !== 'delete') {
    throw new Error(`there is no field ${nodes[0].name.value}`)
  }
  const { kind, table } = field
  const arg = (name: string): Json | undefined => argument(context.scope, nodes[0], name)
  const response = `${table.type}${responses[kind]}`
  if (kind === 'insert' && namesRelated(context, table, arg('objects')))
    return nestedField(context, store, table, nodes, arg)
  const selects = selectedRecords(context, response, nodes).some((inner) =>
    namesIn(context, table.type, inner).some((name) => name !== '__typename'),
  )
  const written: Written = writes[kind](context, store, table, arg, selects)
  const answer = object(context, response, nodes, (name, inner) => {
    if (name === 'affectedCount') return written.records.length
    const records = written.records.map((row) => rowObject(context, store, table, row, inner))
    // Inserted rows are answered in the order of the input, others in any (spec/graphql.md 10.5).
    if (kind !== 'insert') context.unordered.add(records)
    return records
  })
  return { store: written.store, answer }
}

/** The answer is read after all writes (spec/graphql.md 17.6). */
function nestedField(
  context: Context,
  store: Store,
  table: ApiTable,
  nodes: Nodes,
  arg: (name: string) => Json | undefined,
): Answered {
  const response = `${table.type}${responses.insert}`
  const selects = selectedRecords(context, response, nodes).length > 0
  const written = insertNested(context, store, table, arg, selects)
  const answer = object(context, response, nodes, (name, inner) =>
    name === 'affectedCount'
      ? written.count
      : written.records.map((row) => rowObject(context, written.store, table, row, inner)),
  )
  return { store: written.store, answer }
}

function rowField(context: Context, store: Store, field: RowWrite, nodes: Nodes): Answered {
  const arg = (name: string): Json | undefined => argument(context.scope, nodes[0], name)
  if (namesRelatedRows(context, field, arg)) {
    const after = updateRelated(context, store, field, arg)
    return { store: after.store, answer: rowOrNull(context, after.store, field.table, after.records[0], nodes) }
  }
  const written = writeRow(context, store, field, arg)
  const [row] = written.records
  return { store: written.store, answer: rowOrNull(context, store, field.table, row, nodes) }
}

const rowOrNull = (context: Context, store: Store, table: ApiTable, row: Row | undefined, nodes: Nodes): Json =>
  row === undefined ? null : rowObject(context, store, table, row, nodes)

/** Rows are answered in the order of the input. */
function rowsField(context: Context, store: Store, field: RowWrite, nodes: Nodes): Answered {
  const { table } = field
  const written = writeRows(context, store, field, (name) => argument(context.scope, nodes[0], name))
  const answer = object(context, `${table.type}${responses.update}`, nodes, (name, inner) =>
    name === 'affectedCount'
      ? written.records.length
      : written.records.map((row) => rowObject(context, store, table, row, inner)),
  )
  return { store: written.store, answer }
}
