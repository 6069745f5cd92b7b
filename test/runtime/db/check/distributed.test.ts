import fc from 'fast-check'
import { expect, it } from 'vitest'
import { forwardedSettings } from '../../../../runtime/db/check/distributed.ts'
import { createDatabase } from '../../../support/database.ts'
import { forSuite } from '../../../support/for-suite.ts'

const db = forSuite(createDatabase)

const values = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: fc.constantFrom("'", '"', '\\', '\\u', '$$', '--', '/*', ';', '\n', '\0', '\u{1f600}', 'E') }),
)

it('the claims come out of SET as they went in, whatever they hold and however constants are read', async () => {
  await fc.assert(
    fc.asyncProperty(values, fc.boolean(), async (value, conforming) => {
      const claims = JSON.stringify({ role: 'anon', tenant: value })
      await db.query('begin')
      await db.query(`set local standard_conforming_strings = ${conforming ? 'on' : 'off'}`)
      const [handOn, ...settings] = forwardedSettings({ role: 'anon', claims }, false, [['TimeZone', 'Europe/Zurich']])
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

const names = fc.oneof(
  values,
  fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_]{0,60}$/),
  fc.constantFrom('a'.repeat(45), `${'a'.repeat(45)}b`, '__proto__', 'SUB', 'a"b', "a'b", 'a.b'),
)

it('no claim passes for another, whatever they are called', async () => {
  await fc.assert(
    fc.asyncProperty(fc.uniqueArray(names, { selector: (name) => name.toLowerCase(), maxLength: 4 }), async (list) => {
      const claims = `{${list.map((name, at) => `${JSON.stringify(name)}:"value ${at}"`).join()}}`
      await db.query('begin')
      for (const { text } of forwardedSettings({ role: 'anon', claims }, false, []).slice(1)) await db.query(text)
      const isSetting = (name: string): boolean =>
        /^[A-Za-z_]\w{0,44}$/.test(name) && !['sub', 'role', 'email'].includes(name.toLowerCase())
      const expected = new Map(
        list.flatMap((name, at) => (isSetting(name) ? [[name.toLowerCase(), `value ${at}`]] : [])),
      )
      for (const name of list.map((one) => one.slice(0, 45)).filter((one) => /^[A-Za-z_]\w*$/.test(one))) {
        const { rows } = await db.query('select current_setting($1, true) as value', [`request.jwt.claim.${name}`])
        expect(rows[0]?.['value'] || null).toBe(expected.get(name.toLowerCase()) ?? null)
      }
      await db.query('rollback')
    }),
    { numRuns: 200 },
  )
})
