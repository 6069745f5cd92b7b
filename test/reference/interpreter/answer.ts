import { figure } from './aggregate.ts'
import type { Api, ApiTable, Collected, RelationField, RowField } from './api-types.ts'
import { apiTableOf } from './api.ts'
import { argumentsOf, rowsWith } from './calls.ts'
import { takeCollected } from './collected.ts'
import { isInDomain } from './constraints.ts'
import { amongMeant } from './deleted.ts'
import { surroundingsOf, type Context, type Nodes } from './context.ts'
import { readChosen } from './default-filter.ts'
import { attributeOf, part, type Condition } from './conditions.ts'
import { readNode, valuesCondition } from './filter.ts'
import { groupsField } from './groups.ts'
import { object } from './objects.ts'
import { cursorOf, readDistinct, readOrder, readPage, takePage, type Page, type Term } from './page.ts'
import { Refused } from './refusal.ts'
import { relatedRows, type Surroundings } from './related.ts'
import { demandKnown, Unknown } from './sample.ts'
import { argument } from './selection.ts'
import { hasKey, readableRows, rowsOf, visibleRows, type Row, type Store } from './store.ts'
import { encodeToken } from './tokens.ts'
import { headlineOf } from './text-search.ts'
import { elementText } from './elements.ts'
import { readValue, toAnswer } from './types.ts'
import { typeNameOf } from './names.ts'
import {
  columnNamed,
  compositeNamed,
  hasAddition,
  tableNamed,
  type ColumnType,
  type FunctionSketch,
  type Json,
  type Value,
  type World,
} from './world.ts'

export function queryField(context: Context, store: Store, nodes: Nodes): Json {
  const field = context.api.query.get(nodes[0].name.value)
  const arg = (name: string): Json | undefined => argument(context.scope, nodes[0], name)
  switch (field?.kind) {
    case 'node':
      return nodeField(context, store, nodes, String(arg('nodeId')))
    case 'collection':
      return collection(context, store, field.table, visibleRows(store, field.table.sketch, context.claims), nodes)
    case 'collections':
      return collectedRows(context, store, field.collected, nodes)
    case 'byKey':
    case 'lookup': {
      const columns = field.kind === 'lookup' ? field.columns : (field.table.keyArguments ?? new Map())
      const condition = valuesCondition(
        context.world,
        [...columns].map(([name, column]) => [column, arg(name)]),
      )
      return single(context, store, field.table, condition, nodes, [...columns.keys()])
    }
    case 'call':
      return callField(context, store, nodes, context.api.query)
    case 'insert':
    case 'update':
    case 'delete':
    case 'updateRow':
    case 'deleteRow':
    case 'updateRows':
    case undefined:
      throw new Error(`there is no field ${nodes[0].name.value}`)
  }
}

function nodeField(context: Context, store: Store, nodes: Nodes, token: string): Json {
  const { table, condition } = readNode(context.world, context.api.tables, token)
  return single(context, store, table, condition, nodes)
}

/** @param key names of arguments that are those of a key */
function single(
  context: Context,
  store: Store,
  table: ApiTable,
  condition: Condition,
  nodes: Nodes,
  key: readonly string[] = [],
): Json {
  const deleted = key.includes('deleted') ? undefined : argument(context.scope, nodes[0], 'deleted')
  const isFound = amongMeant(table, deleted, condition)
  const found = visibleRows(store, table.sketch, context.claims).find((row) => isFound(row) === true)
  if (found === undefined && table.sketch.sampled === true) throw new Unknown(table.type)
  return found === undefined ? null : rowObject(context, store, table, found, nodes)
}

/** Nested fields are read from `store`, the row itself may be newer (spec/graphql.md 10.5). */
export function rowObject(context: Context, store: Store, table: ApiTable, row: Row, nodes: Nodes): Json {
  return object(context, table.type, nodes, (name, inner) =>
    rowField(context, store, table, row, fieldOf(table, name), inner),
  )
}

function fieldOf(table: ApiTable, name: string): RowField {
  const field = table.fields.get(name)
  if (field === undefined) throw new Error(`${table.type} has no field ${name}`)
  return field
}

function rowField(context: Context, store: Store, table: ApiTable, row: Row, field: RowField, nodes: Nodes): Json {
  switch (field.kind) {
    case 'nodeId':
      return nodeIdOf(context.world, table, row)
    case 'column':
      return valueAnswer(
        context,
        field.column.type,
        row.get(field.column.name) ?? null,
        nodes,
        hasAddition(context.world, table.sketch, 'enumArrays'),
      )
    case 'headline': {
      const text = (name: string, otherwise: string): string =>
        String(argument(context.scope, nodes[0], name) ?? otherwise)
      const { column } = field
      return headlineOf(text('query', ''), text('start', '<b>'), text('stop', '</b>'), row.get(column.name) ?? null)
    }
    case 'computed':
      return computedField(context, store, table, row, field.function, nodes)
    case 'relation': {
      if (!field.many) return relatedRow(context, store, table, row, field, nodes)
      // A collection selects among all of them.
      const found = relatedRows(nestedIn(context, store), table, field, row, 'WITH')
      const related = found.map((one) => one.row)
      const through = field.way?.onEdge ?? null
      const between = new Map(found.flatMap((one) => (one.between === null ? [] : [[one.row, one.between] as const])))
      const target = apiTableOf(context.api, field.target)
      return collection(context, store, target, related, nodes, through === null ? null : { through, between })
    }
    case 'union':
      for (const one of field.of) {
        const answer = relatedRow(context, store, table, row, one, nodes)
        if (answer !== null) return answer
      }
      return null
  }
}

function relatedRow(
  context: Context,
  store: Store,
  table: ApiTable,
  row: Row,
  relation: RelationField,
  nodes: Nodes,
): Json {
  const target = apiTableOf(context.api, relation.target)
  const asked = argument(context.scope, nodes[0], 'deleted')
  const [first] = relatedRows(nestedIn(context, store), table, relation, row, asked)
  const isWhole = relation.local.every((name) => (row.get(name) ?? null) !== null)
  if (first === undefined && isWhole && target.sketch.sampled === true) throw new Unknown(target.type)
  return first === undefined ? null : rowObject(context, store, target, first.row, nodes)
}

/** A composite value is an object of its selections, even if all of them are null (spec/graphql.md 17). */
function valueAnswer(context: Context, type: ColumnType, value: Value, nodes: Nodes, enumArrays: boolean): Json {
  if (type.base !== 'composite' || value === null) return toAnswer(context.world, type, value, enumArrays)
  const { world } = context
  const { name: sqlName, typeName = null } = compositeNamed(world, type)
  const name = typeNameOf(sqlName, typeName, world.inflects)
  return object(context, name, nodes, (field, inner) => {
    const attribute = attributeOf(world, type, field)
    const inSchema = world.additions?.enumArrays ?? false
    return valueAnswer(context, attribute.type, part(value, attribute.name), inner, inSchema)
  })
}

/** spec/graphql.md 9.3. An absent argument takes the default of the function, an explicit null does not. */
export function callField(context: Context, store: Store, nodes: Nodes, fields: Api['query']): Json {
  const field = fields.get(nodes[0].name.value)
  if (field?.kind !== 'call') throw new Error(`${nodes[0].name.value} is no function`)
  const { world } = context
  const { body } = field.function
  const values = passedTo(context, field.function, nodes)
  switch (body.kind) {
    case 'sum': {
      const [a = null, b = body.fallback] = values
      return a === null || b === null ? null : int4(Number(a) + Number(b))
    }
    case 'echo':
      return toAnswer(world, body.type, echoed(values[0], body.fallback), world.additions?.enumArrays ?? false)
    case 'rows': {
      const rows = readableRows(store, tableNamed(world, body.table), context.claims)
      const chosen = rows.filter((row) => body.flag === null || row.get(body.flag) === true)
      return collection(context, store, apiTableOf(context.api, body.table), chosen, nodes)
    }
    case 'row': {
      const table = tableNamed(world, body.table)
      const [first] = rowsWith(world, table, body.column, values[0] ?? null, readableRows(store, table, context.claims))
      return first === undefined ? null : rowObject(context, store, apiTableOf(context.api, body.table), first, nodes)
    }
    case 'computed':
    case 'computedSum':
    case 'computedCount':
    case 'computedRow':
    case 'computedRows':
    case 'void':
      return null
  }
}

/** An absent argument has the default, null has not. */
const echoed = (given: Value | undefined, fallback: Value | undefined): Value =>
  (given === undefined ? fallback : given) ?? null

const passedTo = ({ world, scope }: Context, fn: FunctionSketch, nodes: Nodes): readonly (Value | undefined)[] =>
  (argumentsOf(world, fn) ?? []).map(({ name, type }) => {
    const value = argument(scope, nodes[0], name)
    const read = value === undefined ? undefined : readValue(world, type, value)
    if (read !== undefined && !isInDomain(world, type, read)) throw new Refused('23514')
    return read
  })

/** An integer beyond int4 is refused (PostgreSQL manual, 8.1.1). */
function int4(value: number): number {
  if (value !== (value | 0)) throw new Refused('22003')
  return value
}

/** spec/graphql.md 9.4. */
function computedField(context: Context, store: Store, of: ApiTable, row: Row, fn: FunctionSketch, nodes: Nodes): Json {
  const { body } = fn
  if (body.kind === 'computed') {
    const { type } = columnNamed(of.sketch, body.column)
    return toAnswer(context.world, type, row.get(body.column) ?? null, context.world.additions?.enumArrays ?? false)
  }
  if (body.kind === 'computedSum') {
    const [added = null] = passedTo(context, fn, nodes)
    const value = row.get(body.column) ?? null
    return value === null || added === null ? null : int4(Number(value) + Number(added))
  }
  if (body.kind === 'computedCount') {
    const { world } = context
    const counted = tableNamed(world, body.counted)
    return rowsWith(world, counted, body.countedColumn, row.get(body.column) ?? null, rowsOf(store, body.counted))
      .length
  }
  if (body.kind !== 'computedRow' && body.kind !== 'computedRows') throw new Error(`${body.kind} is no computed field`)
  const table = tableNamed(context.world, body.target)
  const rows = rowsWith(
    context.world,
    table,
    body.targetColumn,
    row.get(body.column) ?? null,
    readableRows(store, table, context.claims),
  )
  const target = apiTableOf(context.api, body.target)
  if (body.kind === 'computedRows') {
    const [skipped = null] = passedTo(context, fn, nodes)
    return collection(context, store, target, rows.slice(Math.max(Number(skipped), 0)), nodes)
  }
  return rows[0] === undefined ? null : rowObject(context, store, target, rows[0], nodes)
}

export const nodeIdOf = (world: World, table: ApiTable, row: Row): string =>
  encodeToken([
    JSON.stringify(table.schema),
    JSON.stringify(table.sketch.name),
    ...table.key.map((column) => elementText(world, column.type, row.get(column.name) ?? null)),
  ])

interface Collection {
  readonly table: ApiTable
  readonly order: readonly Term[]
  readonly page: Page
  /** All matching rows, on every page. */
  readonly matching: readonly Row[]
  readonly reached: Between | null
}

/** Rows of a sampled table may be nested if their parent was read. */
const nestedIn = (context: Context, store: Store): Surroundings => ({
  ...surroundingsOf(context, store),
  reach: (table) => visibleRows(store, table.sketch, context.claims),
})

/** The table through which rows were reached, and its row for each of them. */
interface Between {
  readonly through: string
  readonly between: ReadonlyMap<Row, Row>
}

function collection(
  context: Context,
  store: Store,
  table: ApiTable,
  candidates: readonly Row[],
  nodes: Nodes,
  reached: Between | null = null,
): Json {
  const arg = (name: string): Json | undefined => argument(context.scope, nodes[0], name)
  const around = surroundingsOf(context, store)
  demandKnown(context.world, table, arg('filter'))
  const condition = amongMeant(table, arg('deleted'), readChosen(around, table, arg('filter')))
  const order = readOrder(around, table, arg('orderBy'))
  const firsts = readDistinct(around, table, order, arg('distinctOn'))
  const matching = firsts(candidates.filter((row) => hasKey(table.sketch, row) && condition(row) === true))
  const page = takePage(context.world, table, order, readPage(arg, order.length), matching)
  const found: Collection = { table, order, page, matching, reached }
  return object(context, `${table.type}Connection`, nodes, (name, inner) =>
    connectionField(context, store, found, name, inner),
  )
}

/** Rows of several tables (spec/graphql.md 17.9). */
function collectedRows(context: Context, store: Store, collected: Collected, nodes: Nodes): Json {
  const arg = (name: string): Json | undefined => argument(context.scope, nodes[0], name)
  const {
    page,
    count,
    tableOf,
    cursorOf: cursorAt,
  } = takeCollected(surroundingsOf(context, store), collected, arg, ({ sketch }) =>
    visibleRows(store, sketch, context.claims),
  )
  return object(context, `${collected.name}Connection`, nodes, (name, inner) => {
    if (name === 'totalCount') return count
    if (name === 'pageInfo') return object(context, 'PageInfo', inner, (member) => pageMember(page, cursorAt, member))
    return page.rows.map((row) =>
      object(context, `${collected.name}Edge`, inner, (member, node) =>
        member === 'cursor' ? cursorAt(row) : rowObject(context, store, tableOf(row), row, node),
      ),
    )
  })
}

function connectionField(context: Context, store: Store, found: Collection, name: string, nodes: Nodes): Json {
  const { table, page, matching } = found
  switch (name) {
    case 'edges':
      return page.rows.map((row) =>
        object(context, `${table.type}Edge`, nodes, (member, inner) =>
          edgeField(context, store, found, row, member, inner),
        ),
      )
    case 'pageInfo':
      return object(context, 'PageInfo', nodes, (member) => pageInfo(context, found, member))
    case 'totalCount':
      return matching.length
    case 'groups':
      return groupsField(context, store, table, matching, nodes)
    default:
      return aggregate(context, table, matching, nodes)
  }
}

function edgeField(
  context: Context,
  store: Store,
  { table, order, reached }: Collection,
  row: Row,
  member: string,
  nodes: Nodes,
): Json {
  if (member === 'cursor') return cursorOf(context.world, order, row)
  if (member === 'node') return rowObject(context, store, table, row, nodes)
  const through = table.between.get(member)
  const between = reached?.through === through ? reached?.between.get(row) : undefined
  return through === undefined || between === undefined
    ? null
    : rowObject(context, store, apiTableOf(context.api, through), between, nodes)
}

const pageInfo = ({ world }: Context, { order, page }: Collection, member: string): Json =>
  pageMember(page, (row) => cursorOf(world, order, row), member)

function pageMember(page: Page, cursorAt: (row: Row) => string, member: string): Json {
  const [first, last] = [page.rows[0], page.rows[page.rows.length - 1]]
  switch (member) {
    case 'startCursor':
      return first === undefined ? null : cursorAt(first)
    case 'endCursor':
      return last === undefined ? null : cursorAt(last)
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
