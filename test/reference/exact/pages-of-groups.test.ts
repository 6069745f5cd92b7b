import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { apiOf } from '../interpreter/api.ts'
import { recurringOf } from '../interpreter/times.ts'
import type { World } from '../interpreter/world.ts'
import { usefulRoles } from '../questions/document.ts'
import { choices, drawFrom, type Draw } from '../questions/draw.ts'
import { drawGrouping } from '../questions/groups.ts'
import type { Scene } from '../questions/scene.ts'
import { dataOf } from '../../support/answers.ts'
import { worlds } from './worlds/world.ts'
import { openStage, type Stage } from './stage.ts'
import { walkable } from './laws.ts'

/** Concatenated pages of groups are all groups, for every order that is drawn (spec/graphql.md 17.2). */
const seed = Number(process.env['EXACT_SEED'] ?? '800021')

const walks = 40

const worthwhile = (world: World): boolean =>
  world.limits === undefined && world.allowlist === undefined && world.maxRows === null && usefulRoles(world).length > 0

/** Every table has groups, and pages of the usual size. */
const grouped = (world: World): World => ({
  ...world,
  additions: { ...world.additions, groups: true },
  tables: world.tables.map((table) => ({
    ...table,
    maxRows: null,
    additions: { ...table.additions, groups: true },
  })),
})

/** It has rows that differ by recurring times. */
const isDated = (world: World): boolean =>
  world.tables.some(({ columns, rows }) => rows.length > 1 && columns.some(({ type }) => recurringOf(type).length > 0))

const sceneOf = (world: World, role: string, draw: Draw, tell: (feature: string) => void): Scene => ({
  draw,
  world,
  api: apiOf(world, role),
  tell,
  variables: { declarations: [], values: {} },
  fragments: [],
  count: () => 0,
  spoil: () => false,
})

interface Told {
  readonly count: number
  readonly cursor: string
}

/** The orders that have to be among what is asked. */
const orders = ['key', 'count', 'sum', 'avg', 'min', 'max', 'percentile', 'dayOfWeek'].map(
  (name) => `group order: ${name}`,
)

function drawOne(world: World, draw: Draw) {
  const role = draw.pick(usefulRoles(world))
  const features: string[] = []
  const scene = sceneOf(world, role, draw, (feature) => void features.push(feature))
  const collections = walkable(scene.api)
  if (collections.length === 0) return null
  const [field, table] = draw.pick(collections)
  const grouping = drawGrouping(scene, table)
  return grouping === null ? null : { role, field, table, grouping, features }
}

/** The first of some groupings with an order that was not asked yet: rare ones would be left to luck. */
function drawNew(world: World, draw: Draw, told: ReadonlySet<string>): ReturnType<typeof drawOne> {
  const missing = orders.filter((order) => !told.has(order))
  const first = drawOne(world, draw)
  for (let tries = 0, next = first; missing.length > 0 && tries < 100; tries += 1, next = drawOne(world, draw))
    if (next !== null && missing.some((order) => next?.features.includes(order))) return next
  return first
}

async function walk(stage: Stage, draw: Draw, told: Set<string>): Promise<void> {
  const drawn = drawNew(stage.world, draw, told)
  if (drawn === null) return
  const { role, field, table, grouping, features } = drawn
  for (const feature of features) told.add(feature)
  const query = `query Q($by: [${table.type}GroupBy!]!, $orderBy: [${table.type}GroupOrder!], $first: Int, $after: Cursor) {
    c: ${field} { groups(by: $by, orderBy: $orderBy, first: $first, after: $after) { ${grouping.shown} count cursor } } }`
  const ask = async (page: object): Promise<readonly Told[]> => {
    const { by, orderBy } = grouping
    const answer = await stage.service.graphql(query, {
      role,
      claims: { sub: 'a' },
      variables: { by, orderBy, ...page },
    })
    return dataOf(answer).c.groups
  }
  const all = await ask({})
  const size = 1 + draw.int(3)
  const pages: Told[] = []
  for (let after: string | null = null; ;) {
    const page: readonly Told[] = await ask({ first: size, after })
    pages.push(...page)
    after = page.at(-1)?.cursor ?? null
    if (page.length < size) break
  }
  expect(pages).toEqual(all)
  if (all.length > size) told.add('several pages')
}

describe('pages of groups', () => {
  test('one after the other are all groups', { timeout: 120_000 }, async () => {
    const told = new Set<string>()
    // Choices of its own for each walk: where a list of choices ends, every further one is the plainest.
    const numbers = fc.sample(choices(4_000), { seed, numRuns: 5 * walks })
    const drawn = fc.sample(worlds, { seed, numRuns: 60 }).filter(worthwhile).map(grouped)
    const few = [...drawn.filter(isDated).slice(0, 2), ...drawn.filter((world) => !isDated(world)).slice(0, 3)]
    for (const [index, world] of few.entries()) {
      const stage = await openStage(world)
      try {
        for (const chosen of numbers.slice(index * walks, (index + 1) * walks)) {
          await walk(stage, drawFrom(chosen), told)
        }
      } finally {
        await stage.close()
      }
    }
    const wanted = ['several pages', ...orders]
    expect(wanted.filter((feature) => !told.has(feature))).toEqual([])
  })
})
