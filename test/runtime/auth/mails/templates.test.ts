import { afterAll, beforeAll, expect, it } from 'vitest'
import { listTemplates, setTemplate } from '../../../../runtime/auth/mails/templates.ts'
import { resetTemplate } from '../../../../runtime/auth/store/mail-templates.ts'
import { listMails } from '../../../../runtime/auth/store/outbox.ts'
import { openStatements, type StatementsDatabase } from '../../../../runtime/db/pool/statements.ts'
import { startAuthServer } from '../../../support/auth.ts'
import { forSuite } from '../../../support/for-suite.ts'

let owner: StatementsDatabase
const server = forSuite(startAuthServer, { settings: { mail_cooldown: '0' } })
beforeAll(async () => {
  owner = openStatements({ url: server.db.ownerUrl, schemas: ['auth'], role: null, poolSize: 1, statementTimeout: 0 })
})
afterAll(() => owner?.close())

const mailed = async () => {
  await server.call('POST', '/signup', { body: { email: 'someone@example.com', password: 'correct horse' } })
  return (await listMails(owner.run, 1))[0]
}

it('facts 42, 44, 49: a template holds at once, a bad one is refused and the old one kept, a reset gives the default', async () => {
  const byDefault = await mailed()
  expect(byDefault).toMatchObject({
    kind: 'confirmation',
    recipient: 'someone@example.com',
    subject: 'Confirm your address',
  })
  const own = { subject: 'Own {{ .Token }}', html: '<b>own</b> {{ .ConfirmationURL }}' }
  expect(await setTemplate(owner.run, 'confirmation', own)).toEqual({ kind: 'value', value: own })
  expect(await mailed()).toMatchObject({
    subject: expect.stringMatching(/^Own \d{6}$/),
    html: expect.stringMatching(/^<b>own<\/b> http/),
  })
  expect(await setTemplate(owner.run, 'confirmation', { html: 'no link' })).toMatchObject({ kind: 'problem' })
  expect(await setTemplate(owner.run, 'confirmation', { subject: 'Other' })).toMatchObject({
    kind: 'value',
    value: { html: own.html },
  })
  expect((await mailed())?.subject).toBe('Other')
  const listed = await listTemplates(owner.run)
  expect(listed.map(({ kind, changed }) => [kind, changed])).toEqual([
    ['confirmation', true],
    ['recovery', false],
    ['magic_link', false],
    ['invite', false],
    ['email_change', false],
  ])
  await resetTemplate(owner.run, 'confirmation')
  expect((await mailed())?.subject).toBe('Confirm your address')
  await server.db.query(`insert into catalograph_auth.templates values ('confirmation', 'By hand', 'broken {{')`)
  expect((await mailed())?.subject).toBe('Confirm your address')
})

it('mails are listed by their number: the twenty-first comes before the twentieth and the ninth', async () => {
  await server.db.query('truncate catalograph_auth.outbox restart identity')
  await server.db.query(
    `insert into catalograph_auth.outbox (kind, recipient, subject, html)
    select 'confirmation', 'many@example.com', 'Mail ' || n, '' from generate_series(1, 21) n`,
  )
  const subjects = (await listMails(owner.run, 3)).map(({ subject }) => subject)
  expect(subjects).toEqual(['Mail 21', 'Mail 20', 'Mail 19'])
})
