import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { handedOn } from '../../../../runtime/db/check/distributed.ts'
import { createDatabase, type TestDatabase } from '../../../support/database.ts'

let db: TestDatabase
beforeAll(async () => {
  db = await createDatabase()
})
afterAll(() => db?.drop())

const values = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: fc.constantFrom("'", '"', '\\', '\\u', '$$', '--', '/*', ';', '\n', '\0', '\u{1f600}', 'E') }),
)

it('claims come out of SET as they went in, whatever they hold and however constants are read', async () => {
  await fc.assert(
    fc.asyncProperty(values, fc.boolean(), async (value, conforming) => {
      const claims = JSON.stringify({ role: 'anon', tenant: value })
      await db.query('begin')
      await db.query(`set local standard_conforming_strings = ${conforming ? 'on' : 'off'}`)
      const [handOn, ...settings] = handedOn({ role: 'anon', claims }, false, [['TimeZone', 'Europe/Zurich']])
      expect(handOn?.text).toBe(`set local citus.propagate_set_commands = 'local'`)
      for (const { text } of settings) await db.query(text)
      const { rows } = await db.query(`select current_setting('request.jwt.claims') as claims,
        current_setting('request.jwt.claim.tenant') as tenant, current_setting('TimeZone') as zone`)
      await db.query('rollback')
      const tenant = (JSON.parse(claims) as { tenant: string }).tenant
      expect(rows[0]).toEqual({ claims, tenant: tenant.includes('\0') ? '' : tenant, zone: 'Europe/Zurich' })
    }),
    { numRuns: 300 },
  )
})
