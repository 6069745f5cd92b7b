import { Refused } from '../interpreter/refusal.ts'
import type { ApiTable } from '../interpreter/api-types.ts'
import { readKeys, type GroupKey } from '../interpreter/group-keys.ts'
import { readGroupOrder } from '../interpreter/groups.ts'
import { rowsOf, storeOf } from '../interpreter/store.ts'
import { zones } from '../interpreter/times.ts'
import { encodeToken } from '../interpreter/tokens.ts'
import { elementText } from '../interpreter/elements.ts'
import type { Json } from '../interpreter/world.ts'
import { byTree, drawKeys, hasOneText, shownKeys, waysOf, type Chosen } from './group-keys.ts'
import { drawHaving, drawOrder, figuresOf, termJson, termTree, type GroupTerm } from './group-terms.ts'
import { place, printTree, type Tree } from './input.ts'
import { allowsNull, elementJson } from './page.ts'
import { columnValue, type Scene } from './scene.ts'

/** Documents about groups (spec/graphql.md 17.2). */

/** A row may be in no group: if a multiple of a width exceeds its type, all are refused. */
function valueOrNull(key: GroupKey, row: Parameters<GroupKey['valueOf']>[0]): ReturnType<GroupKey['valueOf']> {
  try {
    return key.valueOf(row)
  } catch (error) {
    if (error instanceof Refused) return null
    throw error
  }
}

/** The cursor of some group, or of none. */
function drawCursor(
  scene: Scene,
  table: ApiTable,
  by: Json,
  zone: string,
  widths: Json,
  order: readonly GroupTerm[],
): string {
  const { draw, world, api } = scene
  const store = storeOf(world)
  const around = { world, api, reach: ({ sketch }: ApiTable) => rowsOf(store, sketch.name) }
  const keys = readKeys(around, table, by, zone, widths)
  const rows = rowsOf(store, table.sketch.name)
  const row = rows.length > 0 && !draw.chance(10) ? draw.pick(rows) : undefined
  const group = new Map(keys.map((key: GroupKey) => [key.id, row === undefined ? null : valueOrNull(key, row)]))
  const terms = readGroupOrder(around, table, keys, order.map(termJson), () => [])
  const known = new Map(
    terms.map((term) => {
      if (term.id.startsWith('key.')) return [term.id, elementText(world, term.type, term.valueOf(group))]
      if (term.place === null) return [term.id, draw.chance(15) ? 'null' : String(draw.int(5))]
      return [term.id, elementText(world, term.type, columnValue(scene, term.place.table, term.place.column) ?? null)]
    }),
  )
  scene.tell('group cursor')
  const cells = terms.map(({ id }) => known.get(id) ?? 'null')
  return encodeToken(draw.chance(15) ? cells.slice(0, draw.int(cells.length + 1)) : cells)
}

/** Widths of numbers of the table itself; null: none. */
function drawWidths(scene: Scene, keys: readonly Chosen[]): Json {
  const { draw } = scene
  const numbers = keys.filter(
    ({ path, column: { type } }) => path.length === 1 && /^(int[248]|numeric)\b/.test(type.base),
  )
  const chosen = numbers.filter(() => draw.chance(40))
  if (chosen.length === 0) return null
  scene.tell('group widths')
  return Object.fromEntries(
    chosen.map(({ path, column: { type } }) => [
      path[0] ?? '',
      draw.pick(/^int/.test(type.base) ? ['2', '1', '10', '1000'] : ['0.5', '1', '25', '2.50']),
    ]),
  )
}

function spoiledBy(scene: Scene, keys: readonly Chosen[]): Tree {
  const [first] = keys
  const kind = allowsNull(scene) ? scene.draw.int(2) : 1
  scene.tell(`refusal: ${['nothing to group by', 'grouped twice'][kind]}`)
  if (kind === 0 || first === undefined) return [new Map()]
  return byTree([...keys, first.member === 'key' ? { ...first, unit: 'VALUE' } : first])
}

/** The member `groups` of a connection, under its own key; nothing without a possible key. */
export function drawGroups(scene: Scene, table: ApiTable): readonly string[] {
  const { draw } = scene
  const ways = waysOf(scene.api, table, 2)
  if (ways.length === 0) return []
  const keys = drawKeys(scene, ways)
  const zone = draw.chance(40) ? draw.pick(Object.keys(zones)) : null
  const by = keys.map(({ path, unit }) => elementJson([path, unit]))
  const widths = drawWidths(scene, keys)
  const order = drawOrder(scene, table, keys)
  const spoiled = scene.spoil()
  const list = spoiled ? spoiledBy(scene, keys) : byTree(keys)
  const args = new Map<string, Tree>([['by', place(scene, `[${table.type}GroupBy!]!`, list)]])
  if (order.length > 0) args.set('orderBy', place(scene, `[${table.type}GroupOrder!]`, order.map(termTree)))
  if (draw.chance(45)) args.set('having', place(scene, `${table.type}Having`, drawHaving(scene, table)))
  if (widths !== null && !spoiled) args.set('widths', new Map(Object.entries(widths as Record<string, string>)))
  // As a variable it would be replaced by any text.
  if (zone !== null) args.set('timeZone', zone)
  if (draw.chance(40)) args.set('first', place(scene, 'Int', draw.pick([1, 2, 0, 5])))
  if (draw.chance(15)) args.set('offset', place(scene, 'Int', draw.int(3)))
  if (!spoiled && draw.chance(35))
    args.set('after', place(scene, 'Cursor', drawCursor(scene, table, by, zone ?? 'UTC', widths, order)))
  const printed = [...args].map(([name, tree]) => `${name}: ${printTree(tree)}`).join(', ')
  return [`groups${scene.count()}: groups(${printed}) { ${drawMembers(scene, table, keys)} }`]
}

/** The keys and the order of groups, as values of variables, and their keys in the selection. */
export function drawGrouping(
  scene: Scene,
  table: ApiTable,
): { readonly by: Json; readonly orderBy: Json; readonly shown: string } | null {
  const ways = waysOf(scene.api, table, 2)
  if (ways.length === 0) return null
  const keys = drawKeys(scene, ways)
  return {
    by: keys.map(({ path, unit }) => elementJson([path, unit])),
    orderBy: drawOrder(scene, table, keys).map(termJson),
    shown: shownKeys(keys).join(' '),
  }
}

function drawMembers(scene: Scene, table: ApiTable, keys: readonly Chosen[]): string {
  const { draw } = scene
  const figures: string[] = draw.some(figuresOf(table), 30).map(([name, field]) => `${name} { ${field} }`)
  const measured = [...(table.figures.get('sum')?.keys() ?? [])]
  if (measured.length > 0 && draw.chance(40)) {
    scene.tell('percentile')
    const at = scene.spoil() ? draw.pick([-0.5, 1.5]) : draw.pick([0.5, 0, 1, 0.9, 0.25])
    figures.push(
      `part${scene.count()}: percentile(at: ${printTree(place(scene, 'Float!', at))}) { ${draw.pick(measured)} }`,
    )
  }
  const listed = [...(table.figures.get('countDistinct') ?? [])].filter(([, column]) => hasOneText(column))
  if (listed.length > 0 && draw.chance(40)) {
    scene.tell('listed values')
    const atMost = scene.spoil() ? -1 : draw.pick([0, 1, 2, 3, 1_000])
    const names = draw.some(listed, 40).map(([name]) => name)
    figures.push(
      `listed${scene.count()}: values(atMost: ${printTree(place(scene, 'Int!', atMost))}) { __typename ${names.join(' ')} }`,
    )
  }
  const optional = ['cursor', 'count', '__typename', ...figures].filter(() => draw.chance(60))
  return [...shownKeys(keys), ...optional].join(' ')
}
