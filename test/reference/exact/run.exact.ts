import { tmpdir } from 'node:os'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { citusMajor } from '../../support/distributed.ts'
import { chosenTopology } from '../../support/topologies.ts'
import { keepCase, readCase } from './case.ts'
import { createDistributedSetting } from './distributed.ts'
import { chosenSetting, coverage, hunt, newTally, usualSetting, type Found, type Tally } from './hunt.ts'
import { judgeCase } from './judge.ts'
import { shrinkCase } from './shrink.ts'

/** The long run: npm run test:exact -- [--minutes N] [--seed S] [--replay FILE] [--out FOLDER] [--topology NAME]. */
const minutes = Number(process.env['EXACT_MINUTES'] ?? '1')
const seed = Number(process.env['EXACT_SEED'] ?? String(Date.now() % 1_000_000))
const replay = process.env['EXACT_REPLAY'] ?? ''
const topology = chosenTopology()
const onCitus = topology?.name === 'citus'
const folder = process.env['EXACT_OUT'] ?? tmpdir()

/** Equal-looking failures are shrunk once. */
const signature = ({ disagreement: { kind, code, message } }: Found): string =>
  [kind, code, message.replace(/"[^"]*"|\d+/g, '').slice(0, 60)].join(' ')

const major = citusMajor()
let setting = topology === null ? usualSetting : chosenSetting
let close = (): Promise<void> => Promise.resolve()

beforeAll(async () => {
  if (!onCitus || major === null) return
  const distributed = await createDistributedSetting(major)
  setting = distributed
  close = distributed.close
}, 120_000)
afterAll(() => close())

const tally = newTally()
const started = Date.now()

afterAll(() => {
  if (replay === '') console.log(summary(tally))
})

const summary = (all: Tally): string =>
  [
    '',
    coverage(all),
    '',
    `seed ${seed}: ${all.cases} cases on ${all.worlds} databases in ${Math.round((Date.now() - started) / 1000)} s, ` +
      `${(all.cases / ((Date.now() - started) / 1000)).toFixed(1)} cases per second, ${all.refusals} refusals` +
      (onCitus ? `, ${all.excused} that Citus refuses` : ''),
    `${all.found.length} failures, ${all.clean} cases passed since the last one`,
  ].join('\n')

test.runIf(replay !== '')(`replays ${replay}`, async () => {
  const kept = await readCase(replay)
  const stage = await setting.open(kept.world)
  const disagreement = await judgeCase(stage, kept)
  await stage.close()
  expect(disagreement).toBeNull()
})

test.runIf(replay === '')(`asks for ${minutes} minutes from seed ${seed}`, async () => {
  const end = started + minutes * 60_000
  const known = new Set<string>()
  let next = seed
  while (Date.now() < end) {
    await hunt({ seed: next, documents: 150, worlds: 1, isOver: () => Date.now() > end, setting }, tally)
    const last = tally.found[tally.found.length - 1]
    if (last !== undefined && tally.clean === 0 && !known.has(signature(last))) {
      known.add(signature(last))
      await tell(last, next, known.size)
    }
    next += 1
  }
  expect(tally.found.length).toBe(0)
})

async function tell(found: Found, worldSeed: number, number: number): Promise<void> {
  const file = `${folder}/${seed}-${number}.json`
  console.log(`\nworld ${worldSeed}: ${found.disagreement.message}\n${found.failing.question?.document ?? ''}`)
  const small = await shrinkCase(found.failing, found.disagreement, Date.now() + 60_000, setting.open)
  await keepCase(file, small)
  console.log(
    `kept in ${file} as\n${small.question?.document ?? ''}\n${JSON.stringify(small.question?.variables ?? {})}\n${small.message}`,
  )
  console.log(
    `run it again: npm run test:exact -- --replay ${file}${topology === null ? '' : ` --topology ${topology.name}`}`,
  )
}
