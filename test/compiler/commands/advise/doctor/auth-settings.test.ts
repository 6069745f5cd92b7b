import { describe, expect, it } from 'vitest'
import { addressFinding, authFindings } from '../../../../../compiler/commands/advise/doctor/surroundings.ts'
import type { Finding } from '../../../../../compiler/commands/advise/doctor/findings.ts'
import { withSession } from '../../../../../runtime/db/connect/session.ts'
import { readSettings } from '../../../../../runtime/settings/read.ts'
import { createDatabase } from '../../../../support/database.ts'
import { forSuite } from '../../../../support/for-suite.ts'

const db = forSuite(createDatabase, { prepare: 'auth' })

const findings = (): Promise<readonly Finding[]> => withSession({ url: db.ownerUrl }, authFindings)

describe('the doctor of stored settings of auth', () => {
  it('advises against each that is too open', async () => {
    const fine = [expect.objectContaining({ check: 'auth', verdict: 'ok' })]
    expect(await findings()).toEqual(fine)
    await db.query(`insert into catalograph_auth.settings values ('site_url', 'http://app.example.com'),
      ('external_url', 'http://project.example.com'), ('redirect_allow_list', 'https://app.example.com/**,**')`)
    expect(await findings()).toEqual([
      ...fine,
      ...['external_url', 'site_url', 'redirect_allow_list'].map((name) => ({
        check: 'auth',
        verdict: 'advice',
        message: expect.stringContaining(`the setting ${name} `),
        fix: `change it by catalograph auth set ${name}`,
      })),
    ])
  })
})

describe('the advice of doctor on BASE_URL', () => {
  it.each([
    ['https://project.example.com', 'ok'],
    ['http://localhost:3000', 'ok'],
    ['http://[::1]:3000', 'ok'],
    ['http://localhost.example.com', 'advice'],
    ['http://127.example.com', 'advice'],
  ])('for %s is %s', (url, verdict) => {
    const read = readSettings({ BASE_URL: url })
    if (read.kind !== 'settings') throw new Error('settings that cannot be read')
    expect(addressFinding(read.settings, true).verdict).toBe(verdict)
  })
})
