import type { ApiTable, Collected } from '../interpreter/api-types.ts'
import { collectedCursor, termsOf } from '../interpreter/collected.ts'
import { mayBeDeleted } from '../interpreter/deleted.ts'
import { rowsOf, storeOf } from '../interpreter/store.ts'
import { encodeToken } from '../interpreter/tokens.ts'
import type { Json } from '../interpreter/world.ts'
import { drawDeleted } from './deleted.ts'
import { drawFilter } from './filter.ts'
import { place, type Tree } from './input.ts'
import { directions, drawForm, elementJson, entry, type Element } from './page.ts'
import type { Scene } from './scene.ts'
import { drawRow, printArguments } from './selection.ts'

/** Arguments and selections of a collection of several tables (spec/graphql.md 17.9). */
export function drawCollected(scene: Scene, collected: Collected, depth: number): string {
  const { draw } = scene
  const { name, of } = collected
  scene.tell(`collection of an interface: of ${of.length}`)
  const members = draw
    .some(of, 75)
    .map((table) => `... on ${table.type} { ${drawRow({ ...scene, apart: true }, table, depth)} }`)
  const fields = [...(scene.api.interfaces.get(name) ?? [])].flatMap(([field, { kind }]) =>
    kind === 'nodeId' && draw.chance(40) ? [`n${scene.count()}: ${field}`] : [],
  )
  const node = `node { ${[...members, ...fields, '__typename'].join(' ')} }`
  const counted = of.every(({ sketch }) => sketch.totalCount) && draw.chance(40)
  const selections = [
    `edges { ${draw.chance(50) ? `cursor ${node}` : node} }`,
    ...(draw.chance(60)
      ? [`pageInfo { ${[...draw.some(['hasPreviousPage', 'startCursor', 'endCursor'], 70), 'hasNextPage'].join(' ')} }`]
      : []),
    ...(counted ? ['totalCount'] : []),
  ]
  return `${printArguments(drawArguments(scene, collected))} { ${selections.join(' ')} }`
}

function drawArguments(scene: Scene, collected: Collected): ReadonlyMap<string, Tree> {
  const { draw } = scene
  const { name, of, orders } = collected
  const order = Array.from({ length: orders.length === 0 ? 0 : draw.pick([0, 1, 1, 2]) }, (): Element => {
    scene.tell('order: of several tables')
    return [[draw.pick(orders)], draw.pick(directions)]
  })
  const deletable = of.find(({ sketch }) => mayBeDeleted(sketch))
  const filter = filteredAs(collected)
  return new Map<string, Tree>([
    ...(order.length === 0 ? [] : [['orderBy', place(scene, `[${name}OrderBy!]`, order.map(entry))] as const]),
    ...drawForm(scene, () => drawCursor(scene, collected, order.map(elementJson))),
    ...(filter !== null && draw.chance(50)
      ? [['filter', drawFilter({ ...scene, spoil: () => false }, filter, filter.depth)] as const]
      : []),
    ...(deletable === undefined ? [] : drawDeleted(scene, deletable)),
  ])
}

/** One of the tables, with the common filter fields. */
function filteredAs({ name, of, filters }: Collected): (ApiTable & { readonly depth: number }) | null {
  const [table] = of
  if (table === undefined || filters.length === 0) return null
  const isLogical = ['and', 'or', 'not'].every((word) => of.every((one) => !one.filters.has(word)))
  return {
    ...table,
    type: name,
    filters: new Map([...table.filters].filter(([field]) => filters.includes(field))),
    filterRelations: new Map(),
    compared: new Map(),
    key: [],
    depth: isLogical ? 2 : 0,
  }
}

/** A cursor of this order at a row of one of the tables, or at all rows with its values, or with its type too. */
function drawCursor(scene: Scene, collected: Collected, order: readonly Json[]): string {
  const { draw, world, api } = scene
  const store = storeOf(world)
  const table = draw.pick(collected.of)
  const rows = rowsOf(store, table.sketch.name)
  if (rows.length === 0) return encodeToken([])
  const around = { world, api, reach: ({ sketch }: ApiTable) => rowsOf(store, sketch.name) }
  const terms = termsOf(around, collected, [...order]).get(table.type) ?? []
  const cells = collectedCursor(world, table, terms, draw.pick(rows))
  scene.tell('cursor: of several tables')
  return draw.chance(80) ? encodeToken(cells) : encodeToken(cells.slice(0, draw.int(cells.length + 1)))
}
