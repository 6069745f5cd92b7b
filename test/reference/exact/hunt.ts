import fc from 'fast-check'
import { questions, usefulRoles, type Drawn } from '../questions/document.ts'
import { withKeyedView } from './worlds/keyed-views.ts'
import { worlds } from './worlds/world.ts'
import { additions, type Question, type World } from '../interpreter/world.ts'
import { roles } from './worlds/roles.ts'
import type { Case } from './case.ts'
import type { Disagreement } from '../judge-answer.ts'
import { judge, judgeCase, type Asked } from './judge.ts'
import { openChosenStage, openStage, type OpenStage, type Stage } from './stage.ts'

/** Draws worlds and asks documents of each until it is stopped. */
export interface Hunt {
  readonly seed: number
  /** Documents per world: its database costs as much as some hundred of them. */
  readonly documents: number
  readonly isOver: () => boolean
  /** Converts drawn worlds, and opens them; absent: unchanged. */
  readonly setting?: Setting
  /** The maximum number of worlds. */
  readonly worlds?: number
}

/** The environment of worlds. */
export interface Setting {
  readonly fit: (world: World) => World
  readonly open: OpenStage
  /** True for refusals that the setting causes, not the world. */
  readonly excuses: (disagreement: Disagreement) => boolean
}

export const usualSetting: Setting = { fit: withKeyedView, open: openStage, excuses: () => false }

const everything = { select: 'all', insert: 'all', update: 'all', delete: true } as const

/** With every addition, and all privileges: fewer refusals occur there, and operators are drawn earlier. */
const opened = (world: World): World => ({
  ...withoutBounds(withKeyedView(world)),
  maxRows: null,
  additions: { ...Object.fromEntries(additions.map((name) => [name, true])), oneOf: world.additions?.oneOf ?? false },
  tables: world.tables.map(({ access: ___, ...table }) => ({
    ...table,
    ...{ additions: {}, policies: null, totalCount: true, aggregate: true, maxRows: null },
    // Views and tables with children are not written.
    grants:
      table.heir === undefined && table.view === undefined
        ? Object.fromEntries(roles.map((role) => [role, everything]))
        : table.grants,
  })),
})

function withoutBounds(world: World): World {
  const { limits: _, allowlist: __, ...others } = world
  return others
}

export const openedSetting: Setting = { ...usualSetting, fit: opened }

export const withoutLive = (world: World): World => {
  const { live: _, ...others } = world
  return others
}

/** The topology of the run, whose services have no live tables. */
export const chosenSetting: Setting = {
  fit: withoutLive,
  open: openChosenStage,
  excuses: () => false,
}

export interface Found {
  readonly failing: Case
  readonly disagreement: Disagreement
}

export interface Tally {
  cases: number
  worlds: number
  /** Cases since the last failure. */
  clean: number
  refusals: number
  /** Refusals that the setting causes. */
  excused: number
  readonly features: Map<string, number>
  readonly found: Found[]
}

export const newTally = (): Tally => ({
  cases: 0,
  worlds: 0,
  clean: 0,
  refusals: 0,
  excused: 0,
  features: new Map(),
  found: [],
})

const sample = <T>(arbitrary: fc.Arbitrary<T>, seed: number, count: number): readonly T[] =>
  fc.sample(arbitrary, { seed, numRuns: count })

/** One world per number from the seed on, so that a world can be found again by its own. */
export async function hunt(options: Hunt, tally: Tally = newTally()): Promise<Tally> {
  const { setting = usualSetting } = options
  for (let index = 0; index < (options.worlds ?? Number.POSITIVE_INFINITY) && !options.isOver(); index += 1) {
    const [world] = sample(worlds.map(setting.fit), options.seed + index, 1)
    if (world === undefined || usefulRoles(world).length === 0) continue
    await huntInWorld(world, sample(questions(world), options.seed + index, options.documents), options, tally)
  }
  return tally
}

async function huntInWorld(
  world: World,
  drawn: readonly Drawn[],
  { isOver, setting = usualSetting }: Hunt,
  tally: Tally,
): Promise<void> {
  const stage = await setting.open(world)
  tally.worlds += 1
  describe(world).forEach((feature) => count(tally, feature))
  try {
    const shape = await judgeCase(stage, { question: null, earlier: null })
    if (shape !== null) return tell(tally, { message: shape.message, question: null, earlier: null, world }, shape)
    for (const { question, again, features, writes } of drawn) {
      features.forEach((feature) => count(tally, feature))
      // One failure is enough for a world; the others would mostly be the same one.
      if (isOver() || !(await tryOne(tally, stage, setting, { question, earlier: null }, writes))) return
      const asked = { question: again, earlier: question.variables }
      if (isOver() || !(await tryOne(tally, stage, setting, asked, writes))) return
    }
  } finally {
    await stage.close()
  }
}

/** False where it failed. */
async function tryOne(
  tally: Tally,
  stage: Stage,
  { excuses }: Setting,
  asked: Asked & { question: Question },
  writes: boolean,
): Promise<boolean> {
  tally.cases += 1
  tally.clean += 1
  const { disagreement, refused } = await judge(stage, asked.question, writes)
  if (refused) tally.refusals += 1
  if (disagreement !== null && excuses(disagreement)) {
    tally.excused += 1
    return true
  }
  if (disagreement !== null) tell(tally, { ...asked, message: disagreement.message, world: stage.world }, disagreement)
  return disagreement === null
}

function tell(tally: Tally, failing: Case, disagreement: Disagreement): void {
  tally.clean = 0
  tally.found.push({ failing, disagreement })
}

const count = (tally: Tally, feature: string): void =>
  void tally.features.set(feature, (tally.features.get(feature) ?? 0) + 1)

/** The features of the specification in a world. */
function describe(world: World): readonly string[] {
  const say = (isSo: boolean, feature: string): readonly string[] => (isSo ? [feature] : [])
  return [
    ...say(world.inflects, 'world: inflected names'),
    ...say(world.limits !== undefined, 'world: limits'),
    ...say(world.functionShapes === true, 'world: function shapes'),
    ...say(new Set(world.functions.map(({ name }) => name)).size < world.functions.length, 'world: overloads'),
    ...say(world.allowlist !== undefined, 'world: allow-list'),
    ...say(world.explain === true, 'world: explain'),
    ...say(world.live === true, 'world: live'),
    ...say(world.schemaReport === true, 'world: schema report'),
    ...say((world.composites ?? []).length > 0, 'world: composites'),
    ...say((world.domains ?? []).length > 0, 'world: domains'),
    ...say(
      world.tables.some(({ columns }) => columns.some(({ type }) => type.elementDomain !== undefined)),
      'world: array of a domain',
    ),
    ...say(world.geo === true, 'world: geo'),
    ...say(
      world.tables.some(({ columns }) => columns.some(({ type }) => type.srid !== undefined)),
      'world: another reference system',
    ),
    ...say(
      world.enums.some((item) => Object.keys(item.mappings).length > 0),
      'world: mapped enum',
    ),
    ...world.tables.flatMap((table) => [
      ...say(table.primaryKey.length > 1, 'world: composite key'),
      ...say(table.typeName !== null, 'world: renamed table'),
      ...say(table.unrooted === true, 'world: table without root fields'),
      ...say(table.policies !== null, 'world: row-level security'),
      ...say((table.defaultFilter ?? []).length > 0, 'world: default filter'),
      ...say(table.softDelete !== undefined, 'world: soft delete'),
      ...say((table.links ?? []).length > 0, 'world: links'),
      ...say((table.unions ?? []).length > 0, 'world: unions'),
      ...say((table.interfaces ?? []).length > 0, 'world: interfaces'),
      ...say((table.collections ?? []).length > 0, 'world: collections of interfaces'),
      ...say((table.defaultOrder ?? []).length > 0, 'world: default order'),
      ...say(table.access !== undefined, 'world: column access'),
      ...say(
        table.uniques.some((unique) => unique.where !== null),
        'world: partial unique index',
      ),
      ...say(
        table.foreignKeys.some((key) => key.target === table.name),
        'world: self relation',
      ),
      ...say(
        table.foreignKeys.some((key) => key.onDelete === 'cascade'),
        'world: on delete cascade',
      ),
      ...say(
        Object.values(table.grants).some(({ select }) => Array.isArray(select)),
        'world: column grants',
      ),
    ]),
  ]
}

/** The table that a run prints. */
export const coverage = ({ features }: Tally): string =>
  [...features]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([feature, times]) => `${feature.padEnd(44)}${String(times).padStart(9)}`)
    .join('\n')
