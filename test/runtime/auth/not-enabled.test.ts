import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { migrateAuth } from '../../../runtime/auth/schema/migrate.ts'
import { enabled, startAuthServer } from '../../support/auth.ts'
import { forSuite } from '../../support/for-suite.ts'
import { postGraphql } from '../../support/post-graphql.ts'

/** Of what is asked now and then, each is asked at least twice in this time. */
const severalPeriodsMs = 11_000

const server = forSuite(startAuthServer, { settings: null, unprepared: true })

const errors = (): readonly string[] => server.db.log.filter((line) => /\b(ERROR|FATAL|PANIC)\b/.test(line))
const health = async (): Promise<number> => (await server.call('GET', '/health')).status
const graphql = async (): Promise<number> => (await postGraphql(server, { query: '{ __typename }' })).status

describe('a database in which auth was never enabled', () => {
  it('is asked nothing that stands in its log as an error, and enabling is noticed within a second', async () => {
    const until = Date.now() + severalPeriodsMs
    const before = errors().length
    while (Date.now() < until) {
      expect([await health(), await graphql()]).toEqual([503, 200])
      await sleep(200)
    }
    expect(errors().slice(before)).toEqual([])

    await migrateAuth({ url: server.db.ownerUrl })
    expect(await health()).toBe(503)
    await server.db.query(`insert into catalograph_auth.settings (name, value) select * from json_each_text($1)`, [
      JSON.stringify(enabled),
    ])
    await server.db.query('update catalograph_auth.settings_version set version = version + 1')
    await expect.poll(health, { timeout: 1_000, interval: 50 }).toBe(200)
    expect(errors().slice(before)).toEqual([])
  })

  it('and from which it is taken away again costs no more than one error for each table', async () => {
    const before = errors().length
    await server.db.query('drop schema catalograph_auth cascade')
    await expect.poll(health, { timeout: 5_000 }).toBe(503)
    await graphql()
    for (const until = Date.now() + severalPeriodsMs; Date.now() < until; await sleep(200)) await health()
    expect(errors().length - before).toBeLessThanOrEqual(3)
  })
})
