import { isEnumType, isInputObjectType, isInterfaceType, isObjectType, type GraphQLSchema } from 'graphql'
import { expect } from 'vitest'
import { atOnce } from '../../../runtime/lib/steps.ts'
import type { Catalog } from '../../../compiler/catalog/catalog.ts'
import { createEmitter } from '../../../compiler/emit/emit.ts'
import { createSqlParser, isUnparsed } from '../../../compiler/emit/sql-parser.ts'
import { dump } from '../../../compiler/catalog/diagnostics/dump.ts'
import type { Model } from '../../../compiler/model/model.ts'
import type { Exchange } from '../../../runtime/contract/execution.ts'
import { permuted } from './shuffled-catalog.ts'
import type { Draw } from '../questions/draw.ts'
import { readChosen } from '../interpreter/default-filter.ts'
import { isMeant } from '../interpreter/deleted.ts'
import type { Api, ApiTable } from '../interpreter/api-types.ts'
import { apiOf } from '../interpreter/api.ts'
import { nodeIdOf } from '../interpreter/answer.ts'
import { compareRows, readDistinct, readOrder, type Term } from '../interpreter/page.ts'
import { storeOf, visibleRows, type Row } from '../interpreter/store.ts'
import type { Json, Question, Role, World } from '../interpreter/world.ts'
import { judge } from './judge.ts'
import type { Stage } from './stage.ts'
import { annotate, buildModel } from '../../support/with-additions.ts'

/** The properties of the product as assertions: each takes any input of its kind and fails with the violation. */

const modelOf = (catalog: Catalog): Model => atOnce(buildModel(atOnce(annotate(catalog)).annotated)).model

const emitted = async (catalog: Catalog): Promise<string> =>
  JSON.stringify((await createEmitter()(modelOf(catalog), catalog.version)).value)

/** Compiling twice, each time from nothing, gives the same bytes. */
export async function assertDeterministic(catalog: Catalog): Promise<void> {
  expect(await emitted(catalog)).toBe(await emitted(catalog))
}

/** The order of unordered lists does not affect the Model, whose members are in any order. */
export function assertOrderIndependent(draw: Draw, catalog: Catalog): void {
  expect(dump(modelOf(permuted(draw, catalog)))).toBe(dump(modelOf(catalog)))
}

const isName = (name: string): boolean => /^[_A-Za-z][_0-9A-Za-z]*$/.test(name) && !name.startsWith('__')

/** Every name of a schema is valid in GraphQL; names of one type are unique by construction. */
export function assertNames(schema: GraphQLSchema): void {
  const types = Object.values(schema.getTypeMap()).filter((type) => !type.name.startsWith('__'))
  const members = types.flatMap((type) => {
    if (isEnumType(type)) return type.getValues().map((value) => value.name)
    if (isObjectType(type) || isInterfaceType(type)) {
      return Object.values(type.getFields()).flatMap((field) => [
        field.name,
        ...field.args.map((argument) => argument.name),
      ])
    }
    return isInputObjectType(type) ? Object.keys(type.getFields()) : []
  })
  expect([...types.map((type) => type.name), ...members].filter((name) => !isName(name))).toEqual([])
}

/** Every sent text parses as exactly one statement and contains none of the marks that its caller put into values. */
export async function assertSafeTexts(exchanges: readonly Exchange[], marks: readonly string[]): Promise<void> {
  const parse = createSqlParser()
  for (const { text } of exchanges.flatMap((exchange) => exchange.statements)) {
    const problem = await parse(text)
    expect(problem === null || isUnparsed(problem), `${problem}: ${text}`).toBe(true)
    expect(
      marks.filter((mark) => text.includes(mark)),
      text,
    ).toEqual([])
  }
}

/** The service and the interpreter give equal answers, written rows exist, and a refusal changed nothing. */
export async function assertExact(stage: Stage, question: Question): Promise<void> {
  const writes = /^\s*mutation\b/.test(question.document)
  const { disagreement } = await judge(stage, question, writes)
  expect(disagreement, question.document).toBeNull()
}

export interface Walk {
  readonly role: Role
  readonly claims: Question['claims']
  readonly table: ApiTable
  readonly field: string
  readonly orderBy: readonly Json[]
  readonly distinctOn: readonly string[]
  readonly size: number
  readonly backward: boolean
}

/** The whole collection of a walk in its order. */
export interface Walked {
  readonly order: readonly Term[]
  readonly rows: readonly Row[]
}

/**
 * The pages of an order, one after the other in either direction, are the whole collection: every row once, in order.
 */
export async function assertPagesAreWhole(stage: Stage, walk: Walk): Promise<Walked> {
  const { world } = stage
  const around = aroundOf(world, walk)
  const order = readOrder(around, walk.table, walk.orderBy)
  const all = [...shownRows(world, walk)].sort((a, b) => compareRows(world, order, a, b))
  const rows = readDistinct(around, walk.table, order, walk.distinctOn)(all)
  const pages: string[][] = []
  let cursor: string | null = null
  // One page more than possible: an endless walk is a failure, too.
  for (let count = 0; count <= rows.length + 1; count += 1) {
    const page = await askPage(stage, walk, cursor)
    pages.push(page.ids)
    if (!page.more) break
    cursor = page.cursor
  }
  const whole = walk.backward ? pages.reverse().flat() : pages.flat()
  expect(whole, JSON.stringify({ ...walk, table: walk.field })).toEqual(
    rows.map((row) => nodeIdOf(world, walk.table, row)),
  )
  return { order, rows }
}

type Caller = Pick<Walk, 'role' | 'claims'>

const aroundOf = (world: World, { role, claims }: Caller): Parameters<typeof readOrder>[0] => ({
  world,
  api: apiOf(world, role),
  reach: ({ sketch }) => visibleRows(storeOf(world), sketch, claims).filter((row) => isMeant(sketch, row, undefined)),
})

/** The rows of a collection without a filter, in no order. */
export function shownRows(world: World, { table, ...caller }: Caller & Pick<Walk, 'table'>): Walked['rows'] {
  const around = aroundOf(world, caller)
  const chosen = readChosen(around, table, undefined)
  return around.reach(table).filter((row) => chosen === null || chosen(row) === true)
}

interface WalkedPage {
  readonly ids: string[]
  readonly more: boolean
  readonly cursor: string | null
}

async function askPage(stage: Stage, walk: Walk, cursor: string | null): Promise<WalkedPage> {
  const [size, from, more, edge] = walk.backward
    ? ['last', 'before', 'hasPreviousPage', 'startCursor']
    : ['first', 'after', 'hasNextPage', 'endCursor']
  const distinct = walk.distinctOn.length === 0 ? '' : `, distinctOn: [${walk.distinctOn.join(', ')}]`
  const orderType = `${walk.table.type}OrderBy`
  const document =
    `query Page($size: Int, $from: Cursor, $orderBy: [${orderType}!]) { page: ` +
    `${walk.field}(${size}: $size, ${from}: $from, orderBy: $orderBy${distinct}) ` +
    `{ edges { node { id: ${idField(walk.table)} } } pageInfo { ${more} ${edge} } } }`
  const variables = { size: walk.size, from: cursor, orderBy: walk.orderBy }
  const { data, errors } = await stage.ask({
    document,
    variables,
    role: walk.role,
    claims: walk.claims,
    operationName: null,
  })
  expect(errors).toBeUndefined()
  return {
    ids: data.page.edges.map((item: { node: { id: string } }) => item.node.id),
    more: data.page.pageInfo[more],
    cursor: data.page.pageInfo[edge],
  }
}

const idField = (table: ApiTable): string =>
  [...table.fields].find(([, field]) => field.kind === 'nodeId')?.[0] ?? '__typename'

/** Collections for walks: their pages are not empty, and the node id is visible. */
export const walkable = (api: Api): readonly (readonly [field: string, table: ApiTable])[] =>
  [...api.query].flatMap(([field, root]) =>
    root.kind === 'collection' && root.table.maxRows > 0 && root.table.orders.size > 0
      ? [[field, root.table] as const]
      : [],
  )
