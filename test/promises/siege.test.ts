import { expect, test } from 'vitest'
import { clusterOf, majors } from '../support/clusters.ts'
import { renderProblem } from '../support/siege/checks.ts'
import { besiege } from '../support/siege/siege.ts'

/**
 * Promise: whatever strangers send, honest callers are served, rightly and in time, Postgres does no work for anybody who
 * is gone, memory stays bounded, and what goes wrong is called by its name. The attacks are a table, attacks.ts; what
 * must hold is another, checks.ts. Long form: npm run test:siege -- --minutes 20 [--seed S] [--only NAME,NAME]
 * [--together N]; these repeat all choices.
 */
const seed = Number(process.env['SIEGE_SEED'] ?? Date.now() % 1_000_000)
const seconds = Number(process.env['SIEGE_MINUTES'] ?? 25 / 60) * 60
const only = process.env['SIEGE_ONLY']?.split(',') ?? null
const together = Number(process.env['SIEGE_TOGETHER'] ?? 3)

const major = majors()[0] ?? 18

test(`a siege (SIEGE_SEED=${seed})`, { timeout: seconds * 3_000 + 240_000 }, async () => {
  console.info(`siege: SIEGE_SEED=${seed}, ${seconds.toFixed(0)} s on PostgreSQL ${major}`)
  const say = (line: string): void => console.info(`siege: ${line}`)
  const options = { source: clusterOf(major), seed, seconds, only, together, say }
  const { problems, assaults, requests } = await besiege(options)
  console.info(`siege: ${assaults} assaults, ${requests} honest requests`)
  expect(problems.map(renderProblem).join('\n'), `SIEGE_SEED=${seed}`).toBe('')
})
