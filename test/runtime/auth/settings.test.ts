import { decodeJwt } from 'jose'
import { describe, expect, it, onTestFinished, test } from 'vitest'
import { authSettingKeys, authSettingRows } from '../../../runtime/auth/settings/setting-keys.ts'
import { settingsOf } from '../../../runtime/auth/settings/store.ts'
import { startAuthServer } from '../../support/auth.ts'
import { forSuite } from '../../support/for-suite.ts'
import { enrol } from '../../support/totp.ts'

describe('the table of settings', () => {
  it('has a default that its own parser gives back', () => {
    const shown = (value: unknown): string => (Array.isArray(value) ? value.join(',') : String(value))
    for (const [name, key] of authSettingRows) {
      if (key.fallback === null || name === 'jwt_keys') continue
      const parsed = key.parse(shown(key.fallback))
      expect([name, parsed]).toEqual([name, { kind: 'value', value: key.fallback }])
    }
  })

  test.each([
    ['3600', 3_600],
    ['90s', 90],
    ['30m', 1_800],
    ['12h', 43_200],
    ['7d', 604_800],
  ])('takes %s as %i seconds', (text, seconds) => {
    expect(authSettingKeys.jwt_exp.parse(text)).toEqual({ kind: 'value', value: seconds })
  })

  test.each(['8d', '1w', '1.5h', 'h', '1h30m', '-1h', '', '99999999999d'])('refuses %j as a time', (text) => {
    expect(authSettingKeys.jwt_exp.parse(text).kind).toBe('problem')
  })

  it('keeps secrets apart', () => {
    expect(authSettingRows.filter(([, { secret }]) => secret).map(([name]) => name)).toEqual([
      'jwt_keys',
      'google_secret',
    ])
  })

  test.each([
    ['site_url', 'javascript:alert(1)'],
    ['site_url', 'app.example.com'],
    ['site_url', 'javascript://app.example.com'],
    ['site_url', 'data://text/html'],
    ['site_url', 'vbscript://x'],
    ['site_url', 'file://host/etc'],
    ['site_url', 'blob://x'],
    ['site_url', 'about://blank'],
    ['site_url', 'JavaScript://x'],
    ['site_url', 'MyApp://home'],
    ['site_url', 'myapp://user@home'],
    ['site_url', 'myapp://user:pw@home'],
    ['site_url', 'myapp://ho\u0001me'],
    ['site_url', 'myapp://home\\x'],
    ['site_url', 'myapp://home?x=1'],
    ['site_url', 'myapp://home#x'],
    ['site_url', 'myapp://*'],
    ['site_url', 'shop://'],
    ['site_url', 'myapp:///'],
    ['site_url', 'myapp:home'],
    ['site_url', 'https://app.example.com\\evil'],
    ['site_url', 'https://app.example.com/\u0001'],
    ['external_url', 'myapp://home'],
    ['external_url', 'https://project.example.com\\x'],
    ['anonymous_enabled', 'perhaps'],
    ['jwt_exp', '-1'],
    ['otp_length', '4'],
    ['jwt_keys', '[{"kid":"a","kty":"oct","k":"x","alg":"HS256","key_ops":["sign"]}]'],
    ['jwt_keys', '[{"kid":"a","kty":"RSA","n":"x","e":"AQAB","alg":"RS256","key_ops":["sign"]}]'],
    ['jwt_keys', 'nonsense'],
  ] as const)('refuses %s = %s without repeating it', (name, text) => {
    const parsed = authSettingKeys[name].parse(text)
    expect(parsed.kind).toBe('problem')
    expect(JSON.stringify(parsed)).not.toContain(text)
  })

  test.each([
    ['myapp://home', 'myapp://home'],
    ['com.example.app://sign-in/done/', 'com.example.app://sign-in/done/'],
    ['exp://127.0.0.1:8081/--/home', 'exp://127.0.0.1:8081/--/home'],
    ['https://app.example.com/', 'https://app.example.com'],
  ])('takes site_url = %s', (text, value) => {
    expect(authSettingKeys.site_url.parse(text)).toEqual({ kind: 'value', value })
  })

  it('reads stored texts, and defaults where there is none', () => {
    const settings = settingsOf({
      redirect_allow_list: 'https://{a,b}.example.com/cb, myapp://x',
      session_timebox: 'off',
    })
    expect(settings.redirect_allow_list).toEqual(['https://{a,b}.example.com/cb', 'myapp://x'])
    expect([settings.session_timebox, settings.jwt_exp, settings.anonymous_enabled]).toEqual([null, 3600, false])
  })
})

describe('a running server', () => {
  const server = forSuite(startAuthServer, { settings: null })

  it('answers every path of auth with one clear error until auth is enabled', async () => {
    for (const [method, path] of [
      ['GET', '/health'],
      ['POST', '/signup'],
      ['PUT', '/nowhere'],
      ['GET', '/signup'],
    ] as const) {
      const answer = await server.call(method, path)
      expect([answer.status, answer.body]).toMatchObject([503, { error_code: 'auth_not_enabled' }])
      expect(answer.body.msg).toContain('catalograph auth enable')
    }
    const newer = await server.call('GET', '/health', { version: '2024-01-01' })
    expect(newer.body).toMatchObject({ code: 'auth_not_enabled' })
  })

  it('sees changes of any process, without a restart, and says once that mails are kept', async () => {
    const other = await server.another()
    const told = () => server.events.filter(({ kind }) => kind === 'mails-kept').length
    onTestFinished(() => other.stop())
    expect(told()).toBe(0)
    await server.db.query(
      `insert into catalograph_auth.settings values ('auth_enabled', 'on'), ('site_url', 'https://a.example')`,
    )
    await expect.poll(async () => (await server.call('GET', '/health')).status, { timeout: 10_000 }).toBe(200)
    const guests = async (url: string): Promise<boolean | undefined> => {
      const response = await fetch(`${url}/auth/v1/settings`, { headers: { apikey: server.anon } })
      return ((await response.json()) as { external?: { anonymous_users: boolean } }).external?.anonymous_users
    }
    const both = async () => [await guests(server.url), await guests(other.url)]
    await expect.poll(both, { timeout: 10_000 }).toEqual([false, false])
    expect(told()).toBe(2)
    await server.set({ anonymous_enabled: 'on' })
    await expect.poll(both, { timeout: 10_000 }).toEqual([true, true])
    expect(told()).toBe(2)
  })
})

describe('a setting changes the answer', () => {
  const server = forSuite(startAuthServer, {
    settings: { autoconfirm: 'on', jwt_aud: 'members', jwt_default_role: 'anon', mfa_max_factors: '1' },
  })

  const signUp = (email: string) => server.call('POST', '/signup', { body: { email, password: 'correct horse' } })

  test('jwt_aud and jwt_default_role stand in the tokens of accounts that came without', async () => {
    const { body } = await signUp('ada@example.com')
    await server.set({ jwt_aud: 'people' })
    await server.db.query(`update auth.users set aud = '', role = '' where email = 'ada@example.com'`)
    const { refresh_token } = body
    const refreshed = await server.call('POST', '/token?grant_type=refresh_token', { body: { refresh_token } })
    expect(decodeJwt(refreshed.body.access_token)).toMatchObject({ aud: 'people', role: 'anon' })
    await server.set({ jwt_aud: 'members' })
  })

  test('mfa_max_factors is the most that a user can enrol', async () => {
    const { body } = await signUp('bob@example.com')
    await enrol(server, body.access_token)
    const more = { token: body.access_token, body: { factor_type: 'totp', friendly_name: 'another' } }
    const answer = await server.call('POST', '/factors', more)
    expect([answer.status, answer.body.error_code]).toEqual([422, 'too_many_enrolled_mfa_factors'])
  })

  test('email_enabled refuses unknown addresses, and those of accounts', async () => {
    await server.set({ email_enabled: 'off' })
    const answers = await Promise.all([
      signUp('eve@example.com'),
      server.call('POST', '/token?grant_type=password', {
        body: { email: 'ada@example.com', password: 'correct horse' },
      }),
      server.call('POST', '/otp', { body: { email: 'ada@example.com' } }),
    ])
    expect(answers.map(({ status, body }) => [status, body.error_code])).toEqual([
      [400, 'email_provider_disabled'],
      [422, 'email_provider_disabled'],
      [422, 'email_provider_disabled'],
    ])
  })
})
