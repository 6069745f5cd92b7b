import { randomUUID } from 'node:crypto'
import { describe, expect, it, onTestFinished, test } from 'vitest'
import { askOwner, call, siteUrl, startAuthServer, type Answer } from '../../../support/auth.ts'
import { forSuite } from '../../../support/for-suite.ts'

const server = forSuite(startAuthServer, { settings: null })

const owner = (method: string, path: string, body?: unknown, key = server.serviceRole): Promise<Answer> =>
  askOwner(server, method, path, body, key)
const patch = (body: unknown): Promise<Answer> => owner('PATCH', '/settings', body)
const settingOf = (answer: Answer, name: string): any =>
  answer.body.settings.find((setting: { name: string }) => setting.name === name)
const publicSettings = () => server.call('GET', '/settings')
/** Asks again until it holds, for at most two seconds. */
const soon = async (holds: () => Promise<boolean>): Promise<boolean> => {
  const until = Date.now() + 2_000
  while (Date.now() < until) {
    if (await holds()) return true
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  return false
}

describe('the settings over HTTP', () => {
  it('facts 42 and 62: enable auth within seconds in every process, and need a site URL for it', async () => {
    const other = await server.another()
    onTestFinished(() => other.stop())
    expect((await publicSettings()).body).toMatchObject({ error_code: 'auth_not_enabled' })
    expect(await patch({ auth_enabled: true })).toMatchObject({
      status: 422,
      body: {
        code: 'validation_failed',
        problems: [{ name: 'site_url', problem: 'is needed while auth is enabled' }],
      },
    })
    expect((await patch({ auth_enabled: true, site_url: siteUrl })).status).toBe(200)
    for (const url of [server.url, other.url]) {
      const ask = () => fetch(`${url}/auth/v1/settings`, { headers: { apikey: server.anon } })
      expect(await soon(async () => (await ask()).status === 200)).toBe(true)
    }
    expect((await patch({ site_url: null })).status).toBe(422)
  })

  it('fact 18: guests are off until the owner allows them', async () => {
    const guest = () => server.call('POST', '/signup', { body: {} })
    expect(await guest()).toMatchObject({ status: 422, body: { error_code: 'anonymous_provider_disabled' } })
    await patch({ anonymous_enabled: true })
    expect(await soon(async () => (await guest()).status === 200)).toBe(true)
    await patch({ anonymous_enabled: null })
    expect(await soon(async () => (await guest()).status === 422)).toBe(true)
  })

  it('facts 37 and 38: offer Google only with all three, and name what is missing on save', async () => {
    const values = { google_enabled: true, google_client_id: 'an-id', google_secret: 'a-secret' }
    const names = Object.keys(values) as (keyof typeof values)[]
    for (let bits = 0; bits < 8; bits += 1) {
      const body = Object.fromEntries(
        names.map((name, index) => [name, (bits & (1 << index)) === 0 ? null : values[name]]),
      )
      const { body: saved } = await patch(body)
      const missing = bits === 0 ? [] : names.filter((_, index) => (bits & (1 << index)) === 0)
      expect(saved.google.missing).toEqual(missing)
      const holds = async (): Promise<boolean> => (await publicSettings()).body.external.google === (bits === 7)
      expect(await soon(holds)).toBe(true)
    }
  })

  it('never show a secret', async () => {
    await patch({ google_secret: 'hush-hush' })
    const answer = await owner('GET', '/settings')
    expect(settingOf(answer, 'google_secret')).toMatchObject({ secret: true, set: true, value: null })
    expect(settingOf(answer, 'google_enabled').help).toMatch(/Google/)
    expect(JSON.stringify(answer.body)).not.toContain('hush-hush')
    expect(answer.headers.get('cache-control')).toBe('no-store')
    const refused = await patch({ jwt_keys: 'hush-hush' })
    expect([refused.status, JSON.stringify(refused.body).includes('hush-hush')]).toEqual([422, false])
  })

  it('take the types of JSON and give them back; null is the default', async () => {
    const { body } = await patch({
      jwt_exp: 120,
      redirect_allow_list: ['https://a.example/**', 'https://{b,c}.example'],
      admin_roles: ['service_role'],
      session_timebox: 'off',
      password_required_characters: 'abc:123',
    })
    const answer = { body } as Answer
    expect(settingOf(answer, 'jwt_exp')).toMatchObject({ value: 120, set: true, type: 'seconds' })
    expect(settingOf(answer, 'redirect_allow_list').value).toEqual(['https://a.example/**', 'https://{b,c}.example'])
    expect(settingOf(answer, 'session_timebox').value).toBeNull()
    expect(settingOf(answer, 'password_required_characters').value).toBe('abc:123')
    const reset = await patch({ jwt_exp: null, password_required_characters: null, admin_roles: null })
    expect(settingOf(reset, 'jwt_exp')).toMatchObject({ value: 3600, set: false })
    expect(settingOf(reset, 'admin_roles').value).toEqual(['service_role', 'supabase_admin'])
  })

  it('save all of a call or nothing, and name every problem', async () => {
    const answer = await patch({ jwt_exp: 120, guests: true, autoconfrim: true, mail_cooldown: -1 })
    expect(answer.status).toBe(422)
    expect(answer.body.problems).toEqual([
      { name: 'guests', problem: 'is not a setting' },
      { name: 'autoconfrim', problem: 'is not a setting; did you mean autoconfirm?' },
      { name: 'mail_cooldown', problem: 'must be seconds from 0 to 86400, or a time such as 30m, 12h or 7d' },
    ])
    expect(settingOf(await owner('GET', '/settings'), 'jwt_exp').set).toBe(false)
  })

  it('are changed by many at once without a deadlock', async () => {
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        patch(
          index % 2 === 0
            ? { jwt_exp: 100 + index, otp_exp: 100 + index }
            : { otp_exp: 100 + index, jwt_exp: 100 + index },
        ),
      ),
    )
    expect(answers.map(({ status }) => status)).toEqual(Array(12).fill(200))
    const last = await owner('GET', '/settings')
    expect(settingOf(last, 'jwt_exp').value).toBe(settingOf(last, 'otp_exp').value)
    await patch({ jwt_exp: null, otp_exp: null })
  })

  it('attack 24: are for the service key alone', async () => {
    const keys: readonly (readonly [string, number, string])[] = [
      ['', 401, 'no_authorization'],
      [server.anon, 403, 'not_admin'],
      ['nonsense', 403, 'bad_jwt'],
    ]
    for (const [key, status, code] of keys) {
      for (const [method, path] of [
        ['GET', '/settings'],
        ['PATCH', '/settings'],
        ['GET', '/templates'],
      ] as const) {
        const answer = await owner(method, path, method === 'PATCH' ? { disable_signup: true } : undefined, key)
        expect(answer).toMatchObject({ status, body: { code } })
      }
    }
    expect(settingOf(await owner('GET', '/settings'), 'disable_signup').value).toBe(false)
  })

  test.each([
    ['{', 400, 'bad_json'],
    ['[]', 400, 'bad_json'],
    ['{"redirect_allow_list": ["https://a.example,b"]}', 400, 'validation_failed'],
    ['{"redirect_allow_list": ["https://a.example", "b.example/**"]}', 422, 'validation_failed'],
    ['{"jwt_exp": [1]}', 422, 'validation_failed'],
    ['{"jwt_exp": {}}', 422, 'validation_failed'],
    ['{"autoconfirm": 7}', 422, 'validation_failed'],
  ])('refuse %s', async (body, status, code) => {
    expect(await patch(body)).toMatchObject({ status, body: { code } })
  })
})

describe('the templates over HTTP', () => {
  it('are listed, set and reset; one that lacks the link is refused and nothing changes', async () => {
    const list = async (): Promise<any[]> => (await owner('GET', '/templates')).body.templates
    const before = await list()
    expect(before.map(({ kind }) => kind)).toEqual(['confirmation', 'recovery', 'magic_link', 'invite', 'email_change'])
    const html = '<p><a href="{{ .ConfirmationURL }}">Go</a> {{ .Token }}</p>'
    expect(await owner('PATCH', '/templates/recovery', { subject: 'Ours', html })).toMatchObject({
      status: 200,
      body: { kind: 'recovery', subject: 'Ours', html },
    })
    const refused = await owner('PATCH', '/templates/recovery', { html: '<p>{{ .Token }}</p>' })
    expect(refused).toMatchObject({ status: 422, body: { code: 'validation_failed' } })
    expect((await list())[1]).toMatchObject({ changed: true, html })
    await owner('DELETE', '/templates/recovery')
    expect(await list()).toEqual(before)
    expect(await owner('PATCH', `/templates/${randomUUID()}`, { html })).toMatchObject({ status: 404 })
  })
})

describe('changes over HTTP', () => {
  const noted = async (): Promise<any[]> =>
    (
      await server.db.query(
        `select payload, ip_address from auth.audit_log_entries where payload ->> 'log_type' = 'settings'
        order by created_at`,
      )
    ).rows

  it('stand in the audit log by name, without a value; what was refused does not', async () => {
    await server.db.query('delete from auth.audit_log_entries')
    const html = '<a href="{{ .ConfirmationURL }}">hush</a>'
    await patch({ google_secret: 'hush-hush', jwt_exp: 120 })
    await patch({ google_secret: null, jwt_exp: null })
    await patch({ jwt_exp: 'never' })
    await owner('PATCH', '/templates/invite', { subject: 'hush', html })
    await owner('PATCH', '/templates/invite', { html: 'no link' })
    await owner('DELETE', '/templates/invite')
    const entries = await noted()
    expect(entries.map(({ payload }) => [payload.action, payload.traits])).toEqual([
      ['settings_changed', { settings: 'google_secret jwt_exp' }],
      ['settings_changed', { settings: 'google_secret jwt_exp' }],
      ['template_changed', { template: 'invite', change: 'set' }],
      ['template_changed', { template: 'invite', change: 'reset' }],
    ])
    expect(entries[0]).toMatchObject({ payload: { actor_username: 'service_role' }, ip_address: '127.0.0.1' })
    expect(JSON.stringify(entries)).not.toContain('hush')
  })

  it('fact 42: of a template hold for the next mail of every process', async () => {
    await patch({ auth_enabled: true, site_url: siteUrl, mail_cooldown: 0 })
    const other = await server.another()
    onTestFinished(async () => {
      await other.stop()
      await owner('DELETE', '/templates/confirmation')
    })
    await owner('PATCH', '/templates/confirmation', { subject: 'Ours at once' })
    for (const url of [server.url, other.url]) {
      const email = `${randomUUID()}@example.com`
      const body = { email, password: 'correct horse' }
      expect((await call(url, server.anon, 'POST', '/signup', { body })).status).toBe(200)
      const sent = 'select subject from catalograph_auth.outbox where recipient = $1'
      expect((await server.db.query(sent, [email])).rows).toEqual([{ subject: 'Ours at once' }])
    }
  })
})

it('an answer says what to do where auth was never prepared', async () => {
  const bare = await startAuthServer({ settings: null, sql: 'drop schema catalograph_auth cascade' })
  onTestFinished(() => bare.stop())
  const answer = await fetch(`${bare.url}/admin/v1/settings`, { headers: { apikey: bare.serviceRole } })
  expect([answer.status, await answer.json()]).toMatchObject([503, { code: 'auth_not_enabled' }])
})

describe('settings that would make every caller an administrator', () => {
  test.each([
    [{ jwt_default_role: 'service_role' }, 'jwt_default_role'],
    [{ jwt_default_role: 'supabase_admin', admin_roles: ['service_role'] }, 'jwt_default_role'],
    [{ jwt_default_role: 'member', admin_roles: ['service_role', 'member'] }, 'jwt_default_role'],
    [{ jwt_default_role: 'postgres' }, 'jwt_default_role'],
    [{ admin_roles: ['authenticated'] }, 'jwt_default_role'],
    [{ admin_roles: ['service_role', 'anon'] }, 'admin_roles'],
  ])('%j are refused, and nothing is kept', async (change, name) => {
    const before = (await owner('GET', '/settings')).body
    const { status, body } = await patch({ ...change, mfa_max_factors: 3 })
    expect([status, body.code, body.problems[0].name]).toEqual([422, 'validation_failed', name])
    expect((await owner('GET', '/settings')).body).toEqual(before)
  })

  it('are ignored where they are stored, which the log says, and keep nothing else from being changed', async () => {
    const stored = await startAuthServer({ settings: null })
    onTestFinished(() => stored.stop())
    await stored.db.query(
      `insert into catalograph_auth.settings values ('auth_enabled', 'on'), ('site_url', 'https://a.example'),
          ('autoconfirm', 'on'), ('jwt_default_role', 'service_role'), ('admin_roles', 'service_role,authenticated')`,
    )
    await expect.poll(async () => (await stored.call('GET', '/health')).status, { timeout: 10_000 }).toBe(200)
    const account = { email: `${randomUUID()}@example.com`, password: 'correct horse' }
    const { body } = await stored.call('POST', '/signup', { body: account })
    expect(body.user.role).toBe('authenticated')
    const asAdmin = await stored.call('GET', '/admin/users', { token: body.access_token })
    expect(asAdmin.body.error_code).toBe('not_admin')
    expect(stored.events.filter(({ kind }) => kind === 'role-setting-ignored')).toMatchObject([
      { name: 'jwt_default_role' },
      { name: 'admin_roles' },
    ])
    expect((await askOwner(stored, 'PATCH', '/settings', { mfa_max_factors: 3 })).status).toBe(200)
  })
})

describe('settings that are too open', () => {
  it('are saved with a warning, which is there until they are changed', async () => {
    const { status, body } = await patch({ external_url: 'http://example.com', redirect_allow_list: ['**'] })
    const names = ['external_url', 'redirect_allow_list']
    expect([status, body.warnings.map(({ name }: { name: string }) => name)]).toEqual([200, names])
    expect((await owner('GET', '/settings')).body.warnings).toEqual(body.warnings)
    expect((await patch({ external_url: null, redirect_allow_list: null })).body.warnings).toEqual([])
  })
})
