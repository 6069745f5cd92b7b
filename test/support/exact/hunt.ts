import fc from 'fast-check'
import { drawQuestion, type Drawn } from '../arbitraries/document.ts'
import { choices, drawFrom } from '../arbitraries/draw.ts'
import { usefulRoles, worlds } from '../arbitraries/world.ts'
import type { Question, World } from '../interpreter/world.ts'
import type { Case } from './case.ts'
import { judge, judgeCase, type Disagreement } from './judge.ts'
import { openStage } from './stage.ts'

/** Draws worlds and asks documents of each until it is told to stop. */
export interface Hunt {
  readonly seed: number
  /** Documents asked of one world: its database costs as much as some hundred of them. */
  readonly documents: number
  readonly isOver: () => boolean
  /** How many worlds are tried at most. */
  readonly worlds?: number
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
  readonly features: Map<string, number>
  readonly found: Found[]
}

export const newTally = (): Tally => ({ cases: 0, worlds: 0, clean: 0, refusals: 0, features: new Map(), found: [] })

const sample = <T>(arbitrary: fc.Arbitrary<T>, seed: number, count: number): readonly T[] => fc.sample(arbitrary, { seed, numRuns: count })

/** One world per number that follows the seed, so that a world can be found again by its own. */
export async function hunt(options: Hunt, tally: Tally = newTally()): Promise<Tally> {
  for (let index = 0; index < (options.worlds ?? Number.POSITIVE_INFINITY) && !options.isOver(); index += 1) {
    const [world] = sample(worlds, options.seed + index, 1)
    if (world === undefined || usefulRoles(world).length === 0) continue
    const documents = sample(choices(400), options.seed + index, options.documents)
    await huntInWorld(world, documents.map((numbers) => drawQuestion(drawFrom(numbers), world)), options, tally)
  }
  return tally
}

async function huntInWorld(world: World, drawn: readonly Drawn[], { isOver }: Hunt, tally: Tally): Promise<void> {
  const stage = await openStage(world)
  tally.worlds += 1
  describe(world).forEach((feature) => count(tally, feature))
  try {
    const shape = await judgeCase(stage, null)
    if (shape !== null) return tell(tally, world, null, shape)
    for (const { question, features, writes } of drawn) {
      if (isOver()) return
      tally.cases += 1
      tally.clean += 1
      features.forEach((feature) => count(tally, feature))
      const { disagreement, refused } = await judge(stage, question, writes)
      if (refused) tally.refusals += 1
      if (disagreement === null) continue
      // One failure tells on a world; the others would mostly be the same one.
      return tell(tally, world, question, disagreement)
    }
  } finally {
    await stage.close()
  }
}

function tell(tally: Tally, world: World, question: Question | null, disagreement: Disagreement): void {
  tally.clean = 0
  tally.found.push({ failing: { message: disagreement.message, question, world }, disagreement })
}

const count = (tally: Tally, feature: string): void => void tally.features.set(feature, (tally.features.get(feature) ?? 0) + 1)

/** What of the specification a world touches by itself. */
function describe(world: World): readonly string[] {
  const say = (isSo: boolean, feature: string): readonly string[] => (isSo ? [feature] : [])
  return [
    ...say(world.inflects, 'world: inflected names'),
    ...say(world.enums.some((item) => Object.keys(item.mappings).length > 0), 'world: mapped enum'),
    ...world.tables.flatMap((table) => [
      ...say(table.primaryKey.length > 1, 'world: composite key'),
      ...say(table.typeName !== null, 'world: renamed table'),
      ...say(table.policies !== null, 'world: row-level security'),
      ...say(table.uniques.some((unique) => unique.where !== null), 'world: partial unique index'),
      ...say(table.foreignKeys.some((key) => key.target === table.name), 'world: self relation'),
      ...say(table.foreignKeys.some((key) => key.onDelete === 'cascade'), 'world: on delete cascade'),
      ...say(Array.isArray(table.grants.anon.select) || Array.isArray(table.grants.authenticated.select), 'world: column grants'),
    ]),
  ]
}

/** The table that a run prints. */
export const coverage = ({ features }: Tally): string =>
  [...features]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([feature, times]) => `${feature.padEnd(44)}${String(times).padStart(9)}`)
    .join('\n')
