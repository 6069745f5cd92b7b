import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Api, ApiTable } from '../interpreter/api-types.ts'
import { apiOf, apiTableOf } from '../interpreter/api.ts'
import type { Term } from '../interpreter/page.ts'
import type { ColumnType, World } from '../interpreter/world.ts'
import { usefulRoles } from '../questions/document.ts'
import { choices, drawFrom, type Draw } from '../questions/draw.ts'
import { drawElement, drawPath, elementJson } from '../questions/page.ts'
import { shuffled } from './shuffled-catalog.ts'
import { worlds } from './worlds/world.ts'
import { openStage } from './stage.ts'
import { assertPagesAreWhole, shownRows, walkable, type Walk, type Walked } from './laws.ts'

/**
 * Concatenated pages are the whole collection, for every order that can be expressed: columns of every type, values and
 * counts of related rows, rows distinguished by some fields alone; forwards and backwards, on drawn catalogues.
 */
const seed = Number(process.env['EXACT_SEED'] ?? '800025')
const again = `EXACT_SEED=${seed} npx vitest run --config test/vitest.config.ts test/reference/exact/pages.test.ts`

const [sampled, batches, chosen, walks] = [250, 12, 8, 70]

/** The required keys of orders, in any draw. */
const wantedAims: readonly string[] = [
  'a rank',
  'row-level security',
  ...['a domain', 'bool', 'date', 'enum', 'int4', 'int8', 'numeric', 'text', 'timestamptz', 'uuid', 'varchar(5)'].map(
    (type) => `of type ${type}`,
  ),
]

/** Each order by one key of a collection for a role, over at most two relations. */
interface Way {
  readonly role: string
  readonly field: string
  readonly table: ApiTable
  readonly path: readonly string[]
  /** The role sees several rows, which form pages. */
  readonly hasPages: boolean
}

const claims = { sub: 'a' }

function waysOf(world: World): readonly Way[] {
  return usefulRoles(world).flatMap((role) => {
    const api = apiOf(world, role)
    return walkable(api).flatMap(([field, table]) => {
      const hasPages = shownRows(world, { role, claims, table }).length > 1
      return pathsOf(api, table, 2).map((path): Way => ({ role, field, table, path, hasPages }))
    })
  })
}

const pathsOf = (api: Api, table: ApiTable, depth: number): readonly (readonly string[])[] => [
  ...[...table.orders.keys(), ...table.ranks.keys()].map((name) => [name]),
  ...[...table.orderRelations].flatMap(([name, { many, target }]) => {
    const further = many ? [['count']] : depth === 0 ? [] : pathsOf(api, apiTableOf(api, target), depth - 1)
    return further.map((path) => [name, ...path])
  }),
]

/** The certain kinds of a walk, by an order without relations. */
function aimsOf({ table, path: [first = '', ...more], hasPages }: Way): readonly string[] {
  if (!hasPages || more.length > 0) return []
  const type = table.orders.get(first)?.type
  return [
    type === undefined ? 'a rank' : ofType(type),
    ...(table.sketch.policies === null ? [] : ['row-level security']),
  ]
}

/** The distinguishing traits of a world's ways: their targets and types. */
function traitsOf(world: World): ReadonlySet<string> {
  return new Set(
    waysOf(world).flatMap((way) => {
      const { table, path } = way
      const form = `${path.length} ${path.at(-1) === 'count'} ${table.sketch.policies === null} ${table.key.length > 1}`
      return [...(way.hasPages ? [form] : []), ...aimsOf(way)]
    }),
  )
}

interface Candidate {
  readonly world: World
  readonly traits: ReadonlySet<string>
}

/** Settings that refuse documents are irrelevant for pages. */
const sampleFrom = (batch: number): readonly Candidate[] =>
  fc
    .sample(worlds, { seed: seed + batch, numRuns: sampled })
    .filter((world) => world.limits === undefined && world.allowlist === undefined && usefulRoles(world).length > 0)
    .map((world) => ({ world, traits: traitsOf(world) }))

/** Sampled until each required type occurs. */
function candidatesOf(): readonly Candidate[] {
  const all: Candidate[] = []
  for (let batch = 0; batch < batches; batch += 1) {
    all.push(...sampleFrom(batch))
    const known = new Set(all.flatMap(({ traits }) => [...traits]))
    if (wantedAims.every((type) => known.has(type))) return all
  }
  return all
}

/** A few of many catalogues that together have all traits, and further ones with a required type. */
function stageWorthy(): readonly World[] {
  const candidates = candidatesOf()
  const [known, taken] = [new Set<string>(), [] as World[]]
  const isDone = (): boolean => taken.length >= chosen && wantedAims.every((type) => known.has(type))
  while (!isDone()) {
    const gain = ({ traits }: Candidate): number =>
      [...traits].reduce((sum, one) => sum + (known.has(one) ? 0 : wantedAims.includes(one) ? 100 : 1), 0)
    const [best] = candidates.filter(({ world }) => !taken.includes(world)).sort((a, b) => gain(b) - gain(a))
    if (best === undefined || (taken.length >= chosen && gain(best) === 0)) break
    taken.push(best.world)
    for (const trait of best.traits) known.add(trait)
  }
  return taken
}

const directions = ['AscNullsFirst', 'AscNullsLast', 'DescNullsFirst', 'DescNullsLast'] as const

function walkOn(draw: Draw, world: World, { role, field, table, path }: Way): Walk {
  const api = apiOf(world, role)
  const more = Array.from({ length: draw.pick([0, 0, 1, 2]) }, () => drawPath(draw, api, table))
  return {
    role,
    claims,
    table,
    field,
    orderBy: shuffled(draw, [path, ...more]).map((one) =>
      elementJson(drawElement(draw, api, table, one, draw.pick(directions))),
    ),
    distinctOn: draw.chance(75) ? [] : draw.some([...table.distinct.keys()]),
    size: 1 + draw.int(3),
    backward: draw.chance(50),
  }
}

/** Whether an order has a kind that no walk had yet. */
const isNew =
  (drawn: ReadonlyMap<string, number>) =>
  (way: Way): boolean =>
    aimsOf(way).some((aim) => !drawn.has(aim))

/** New ones come first: each drawn type takes from the others. */
function newFirst(ways: readonly Way[], drawn: ReadonlyMap<string, number>): readonly Way[] {
  const isFirst = isNew(drawn)
  return [...ways.filter(isFirst), ...ways.filter((way) => !isFirst(way))]
}

/** Two rows are several pages. */
const ofManyPages = (walk: Walk): Walk => ({ ...walk, distinctOn: [], size: 1 })

const ofType = ({ base, domain }: ColumnType): string => `of type ${domain === undefined ? base : 'a domain'}`

/** The kinds of a walk; none for a single page. */
function kindsOf(walk: Walk, { order, rows }: Walked): readonly string[] {
  if (rows.length <= walk.size) return []
  const asked = order.slice(0, order.length - walk.table.key.length)
  return [
    walk.backward ? 'backwards' : 'forwards',
    ...(walk.distinctOn.length > 0 ? ['distinctOn'] : []),
    ...(asked.length > 1 ? ['several fields'] : []),
    ...(walk.table.key.length > 1 ? ['a composite key'] : []),
    ...(walk.table.sketch.policies === null ? [] : ['row-level security']),
    ...asked.flatMap((term) => termKinds(term, rows)),
  ]
}

function termKinds(term: Term, rows: Walked['rows']): readonly string[] {
  const steps = term.id.split('.').length - 2
  const values = rows.map(term.valueOf)
  const isNull = values.includes(null)
  const isRank = term.place === null && term.type.base === 'float8'
  const form = isRank
    ? 'a rank'
    : term.place === null
      ? 'a count'
      : steps === 0
        ? 'a field'
        : 'a field of a related row'
  return [
    form,
    `${term.descending ? 'descending' : 'ascending'}, nulls ${term.nullsFirst ? 'first' : 'last'}`,
    ...(!isRank && steps > (term.place === null ? 0 : 1) ? [`${form}, from a related row on`] : []),
    ...(new Set(values.map((value) => JSON.stringify(value))).size < values.length ? ['ties'] : []),
    ...(isNull ? ['nulls'] : []),
    ...(isNull && !isRank && (term.place?.column.notNull ?? true) ? [`${form}, of no related row`] : []),
    ofType(term.type),
  ]
}

/** The required kinds, in any draw. */
const wanted = [
  'a composite key',
  'a count',
  'a count, from a related row on',
  'a count, of no related row',
  'a field',
  'a field of a related row',
  'a field of a related row, from a related row on',
  'a field of a related row, of no related row',
  ...['ascending, nulls first', 'ascending, nulls last', 'descending, nulls first', 'descending, nulls last'],
  ...['backwards', 'forwards', 'distinctOn', 'nulls', 'several fields', 'ties'],
  ...wantedAims,
]

describe(`pages (again: ${again})`, () => {
  const drawn = new Map<string, number>()
  test.each(stageWorthy().map((world, index) => [index + 1, world] as const))(
    'one after the other in either direction, are the whole: catalogue %i',
    { timeout: 60_000 },
    async (_, world) => {
      const stage = await openStage(world)
      try {
        const [numbers = []] = fc.sample(choices(4_000), { seed, numRuns: 1 })
        const draw = drawFrom(numbers)
        for (const way of newFirst(shuffled(draw, waysOf(world)), drawn).slice(0, walks)) {
          const drawnWalk = walkOn(draw, world, way)
          const walk = isNew(drawn)(way) ? ofManyPages(drawnWalk) : drawnWalk
          const walked = await assertPagesAreWhole(stage, walk)
          for (const kind of kindsOf(walk, walked)) drawn.set(kind, (drawn.get(kind) ?? 0) + 1)
        }
      } finally {
        await stage.close()
      }
    },
  )

  test('are of every order that can be expressed', () => {
    expect(wanted.filter((kind) => !drawn.has(kind))).toEqual([])
  })
})
