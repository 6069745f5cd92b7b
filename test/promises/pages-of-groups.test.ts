import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { apiOf } from '../../compiler/tools/verify/interpreter/api.ts'
import type { World } from '../../compiler/tools/verify/interpreter/world.ts'
import { usefulRoles } from '../../compiler/tools/verify/questions/document.ts'
import { choices, drawFrom, type Draw } from '../../compiler/tools/verify/questions/draw.ts'
import { drawGrouping } from '../../compiler/tools/verify/questions/groups.ts'
import type { Scene } from '../../compiler/tools/verify/questions/scene.ts'
import { dataOf } from '../support/answers.ts'
import { worlds } from '../support/arbitraries/world.ts'
import { openStage, type Stage } from '../support/exact/stage.ts'
import { walkable } from '../support/laws.ts'

/** Concatenated pages of groups are all groups, for every order that is drawn (spec/graphql.md 17.2). */
const seed = Number(process.env['EXACT_SEED'] ?? '800021')

const worthwhile = (world: World): boolean =>
  world.limits === undefined && world.allowlist === undefined && world.maxRows === null && usefulRoles(world).length > 0

/** Everybody has groups, and pages of the usual size. */
const grouped = (world: World): World => ({
  ...world,
  additions: { ...world.additions, groups: true },
  tables: world.tables.map((table) => ({
    ...table,
    maxRows: null,
    additions: { ...table.additions, groups: true },
  })),
})

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

async function walk(stage: Stage, role: string, draw: Draw, told: Set<string>): Promise<void> {
  const scene = sceneOf(stage.world, role, draw, (feature) => void told.add(feature))
  const collections = walkable(scene.api)
  if (collections.length === 0) return
  const [field, table] = draw.pick(collections)
  const grouping = drawGrouping(scene, table)
  if (grouping === null) return
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
    const [numbers = []] = fc.sample(choices(4_000), { seed, numRuns: 1 })
    const draw = drawFrom(numbers)
    for (const world of fc.sample(worlds, { seed, numRuns: 60 }).filter(worthwhile).map(grouped).slice(0, 5)) {
      const stage = await openStage(world)
      try {
        for (let count = 0; count < 40; count += 1) await walk(stage, draw.pick(usefulRoles(world)), draw, told)
      } finally {
        await stage.close()
      }
    }
    const wanted = [
      'several pages',
      ...['key', 'count', 'sum', 'avg', 'min', 'max', 'percentile'].map((name) => `group order: ${name}`),
    ]
    expect(wanted.filter((feature) => !told.has(feature))).toEqual([])
  })
})
