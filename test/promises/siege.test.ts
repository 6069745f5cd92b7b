import { execFile } from 'node:child_process'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { clusterOf, majors } from '../support/clusters.ts'
import { createRandom } from '../support/random.ts'
import type { Attack } from '../support/siege/arms.ts'
import { createVerdicts, renderProblem, type Underway } from '../support/siege/checks.ts'
import { mostSince } from '../support/siege/server.ts'
import { besiege, hands } from '../support/siege/siege.ts'

/**
 * Promise: whatever strangers send, honest callers are served, rightly and in time, Postgres does no work for a client that
 * is gone, memory stays bounded, and what goes wrong is called by its name. The attacks are a table, attacks.ts; what
 * must hold is another, checks.ts. Long form: npm run test:siege -- --minutes 20 [--seed S] [--only NAME,NAME]
 * [--together N]; these repeat all choices.
 */
const seed = Number(process.env['SIEGE_SEED'] ?? Date.now() % 1_000_000)
const seconds = Number(process.env['SIEGE_MINUTES'] ?? 25 / 60) * 60
const only = process.env['SIEGE_ONLY']?.split(',') ?? null
const together = Number(process.env['SIEGE_TOGETHER'] ?? 3)

const major = majors()[0] ?? 18

/** A machine that stood still for seconds shows nothing: in the short run the same choices are then made once more. */
const retry = process.env['SIEGE_MINUTES'] === undefined ? 1 : 0

test(`a service holds out a siege (SIEGE_SEED=${seed})`, { timeout: seconds * 3_000 + 240_000, retry }, async () => {
  console.info(`siege: SIEGE_SEED=${seed}, ${seconds.toFixed(0)} s on PostgreSQL ${major}`)
  const say = (line: string): void => console.info(`siege: ${line}`)
  const options = { source: clusterOf(major), seed, seconds, only, together, say }
  const { problems, assaults, requests } = await besiege(options)
  console.info(`siege: ${assaults} assaults, ${requests} honest requests`)
  expect(problems.map(renderProblem).join('\n'), `SIEGE_SEED=${seed}`).toBe('')
})

const attackOf = (name: string, alone: boolean): Attack => {
  const attack = { name, does: '', relaxes: {}, run: () => Promise.resolve() }
  return alone ? { ...attack, alone } : attack
}

test('a seed draws every attack once before any comes again, and those that stand alone alone', () => {
  const names = fc.uniqueArray(fc.tuple(fc.string(), fc.boolean()), { selector: ([name]) => name, minLength: 1 })
  fc.assert(
    fc.property(names, fc.integer({ min: 1, max: 4 }), fc.nat(), (drawn, most, start) => {
      const attacks = drawn.map(([name, alone]) => attackOf(name, alone))
      const [dealing, again] = [hands(attacks, most, createRandom(start)), hands(attacks, most, createRandom(start))]
      const dealt: Attack[] = []
      while (dealt.length < attacks.length) {
        const { value: hand } = dealing.next()
        expect(again.next().value).toEqual(hand)
        expect(hand.length === 1 || (hand.length <= most && !hand.some(({ alone }) => alone))).toBe(true)
        dealt.push(...hand)
      }
      expect(dealt.map(({ name }) => name).sort()).toEqual(attacks.map(({ name }) => name).sort())
    }),
  )
})

test('an attack allows what it relaxes and touched, and nothing else', () => {
  const during: Underway = { name: 'outage', relaxes: { answered: 'away' }, start: 10, end: 20 }
  const verdicts = createVerdicts([during], () => undefined)
  verdicts.fail('answered', 'asked before its end', 15)
  verdicts.fail('answered', 'asked after its end', 21)
  verdicts.fail('exact', 'another check', 15)
  expect(verdicts.excused()).toEqual({ 'answered under outage': 1 })
  expect(verdicts.problems()).toEqual([
    { check: 'answered', under: 'nothing', count: 1, samples: ['asked after its end'] },
    { check: 'exact', under: 'outage', count: 1, samples: ['another check'] },
  ])
})

test('of several workers the one that waited most counts, a new one from its beginning', () => {
  const times = (waited: Readonly<Record<number, number>>): Map<number, { ran: number; waited: number }> =>
    new Map(Object.entries(waited).map(([pid, ms]) => [Number(pid), { ran: 0, waited: ms }]))
  expect(mostSince(times({ 1: 5, 2: 10 }), times({ 1: 6, 2: 40, 3: 20 }), 'waited')).toBe(30)
  expect(mostSince(times({ 1: 5, 2: 10 }), times({ 1: 6, 3: 20 }), 'waited')).toBe(20)
  expect(mostSince(times({ 1: 5 }), times({}), 'waited')).toBe(0)
})

test('its benchmark runs through and leaves a record', { timeout: 300_000 }, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'catalograph-smoke-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const little = ['--seconds', '1', '--alone', '1', '--only', '8 abandoned relations,400 introspections']
  const { stdout } = await promisify(execFile)(process.execPath, ['bench/run.mjs', 'siege', '--built', ...little], {
    env: { ...process.env, BENCH_RECORDS: folder },
  })
  for (const title of ['Under siege', 'Dear documents', 'Limits']) expect(stdout).toContain(title)
  expect(await readdir(folder)).toHaveLength(1)
})
