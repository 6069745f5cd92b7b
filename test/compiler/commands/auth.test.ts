import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, it, test } from 'vitest'
import { authCommand } from '../../../compiler/commands/auth.ts'
import { mailsCommand } from '../../../compiler/commands/mails.ts'
import { runCommand, type CommandAnswer } from '../../support/command.ts'
import { createDatabase } from '../../support/database.ts'
import { forSuite } from '../../support/for-suite.ts'

let folder: string
const db = forSuite(createDatabase, { prepare: true })
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'catalograph-auth-command-'))
})

const run = (args: readonly string[], input = '', environment: Record<string, string> = {}): Promise<CommandAnswer> =>
  runCommand([authCommand, mailsCommand], args, {
    environment: { DATABASE_OWNER_URL: db.ownerUrl, CATALOGRAPH_DATA: folder, ...environment },
    input,
  })
const auth = (...args: readonly string[]): Promise<CommandAnswer> => run(['auth', ...args])

describe('catalograph auth', () => {
  it('before it was ever enabled says how', async () => {
    const { exitCode, noted } = await auth('status')
    expect([exitCode, noted]).toEqual([
      1,
      'catalograph: auth is not prepared in this database; run catalograph auth enable --site-url URL',
    ])
  })

  it('enable prepares, needs a site URL once, and disable keeps everything', async () => {
    const without = await auth('enable')
    expect([without.exitCode, without.noted]).toEqual([
      1,
      expect.stringContaining('nothing was saved:\n  site_url is needed while auth is enabled'),
    ])
    expect((await auth('enable', '--site-url', 'https://app.example.com/')).printed).toMatch(/^Auth is enabled\./)
    expect((await auth('enable')).exitCode).toBe(0)
    const status = await auth('status')
    expect(status.printed).toMatch(/^Auth is enabled\n/)
    expect(status.printed).toContain('site_url = https://app.example.com/')
    expect((await auth('disable')).printed).toMatch(/^Auth is disabled\./)
    expect((await auth('status')).printed).toMatch(/^Auth is not enabled/)
    await auth('enable')
  })

  it('url and guests show and set', async () => {
    expect((await auth('url', 'https://new.example.com')).printed).toBe('site_url = https://new.example.com')
    expect((await auth('url', 'nonsense')).noted).toMatch(/nothing was saved:\n {2}site_url must be a web address/)
    expect((await auth('url')).printed).toBe('site_url = https://new.example.com')
    expect((await auth('guests')).printed).toBe('anonymous_enabled = off')
    expect((await auth('guests', 'on')).printed).toBe('anonymous_enabled = on')
  })

  it('warns of settings that are too open, and saves them', async () => {
    const wide = await auth('set', 'redirect_allow_list', 'https://app.example.com/**,https://*')
    expect(wide).toMatchObject({
      exitCode: 0,
      printed: 'redirect_allow_list = https://app.example.com/**, https://*',
      noted: 'Warning: redirect_allow_list lets anybody receive sign-ins: https://* allows https://stranger',
    })
    expect((await auth('redirects', 'add', 'https://**.example.com')).noted).toContain(
      ': https://**.example.com allows https://',
    )
    expect((await auth('set', 'external_url', 'http://project.example.com/auth/v1')).noted).toBe(
      'Warning: external_url is not encrypted, and sign-ins pass there: serve it by https',
    )
    expect((await auth('url', 'http://localhost:3000')).noted).toBe('')
    await auth('reset', 'redirect_allow_list')
    await auth('reset', 'external_url')
    await auth('url', 'https://new.example.com')
  })

  it('redirects adds, removes and lists', async () => {
    await auth('redirects', 'add', 'https://a.example/**', 'https://{b,c}.example')
    expect((await auth('redirects', 'add', 'https://a.example/**')).printed.split('\n')).toHaveLength(2)
    expect((await auth('redirects', 'remove', 'https://a.example/**')).printed).toBe('https://{b,c}.example')
    expect((await auth('redirects')).printed).toBe('https://{b,c}.example')
    expect((await auth('redirects', 'remove', 'https://x.example')).noted).toContain('is not on the list')
    expect((await auth('redirects', 'add', 'https://a.example,https://b.example')).exitCode).toBe(1)
    expect((await auth('redirects')).printed).toBe('https://{b,c}.example')
    expect((await auth('redirects', 'add')).exitCode).toBe(2)
  })

  it('a redirect is the same one whether it is added or set', async () => {
    const both = (entry: string) =>
      Promise.all([auth('redirects', 'add', entry), auth('set', 'redirect_allow_list', entry)])
    for (const entry of ['notaurl', 'app.example.com/**', '*.example.com', '{a,b}.example/**']) {
      for (const { exitCode, noted } of await both(entry)) {
        expect([exitCode, noted]).toEqual([1, expect.stringContaining(`${entry}, which is not an address: `)])
      }
    }
    for (const entry of [
      'http*://**',
      '**',
      '**.example.com/**',
      '{https,myapp}://a.example/**',
      'com.example.app:/back',
    ]) {
      for (const { exitCode } of await both(entry)) expect([entry, exitCode]).toEqual([entry, 0])
    }
    await auth('set', 'redirect_allow_list', 'https://{b,c}.example')
  })

  it('fact 38: google says which of the three is missing, and never shows the secret', async () => {
    const on = await auth('google', 'on')
    // It was saved, and scripts go on with the id and the secret.
    expect(on.exitCode).toBe(0)
    expect(on.noted.split('\n')).toEqual([
      'Google is not offered yet, google_client_id is missing: catalograph auth google --client-id ID',
      'Google is not offered yet, google_secret is missing: catalograph auth google --secret-stdin',
    ])
    expect((await auth('google', '--client-id', 'an-id')).noted).toMatch(/^[^\n]*google_secret is missing[^\n]*$/)
    const whole = await run(['auth', 'google', '--secret-stdin'], 'hush-hush')
    expect(whole).toEqual({
      exitCode: 0,
      printed: 'google_enabled = on\ngoogle_client_id = an-id\ngoogle_secret = (set, not shown)',
      noted: '',
    })
    const { rows } = await db.query("select value from catalograph_auth.settings where name = 'google_secret'")
    expect(rows).toEqual([{ value: 'hush-hush' }])
    expect((await run(['auth', 'google', '--secret-stdin'])).noted).toContain('standard input is empty')
    for (const args of [['get'], ['get', 'google_secret'], ['status'], ['google']]) {
      expect(JSON.stringify(await auth(...args))).not.toContain('hush-hush')
    }
  })

  it('set, get and reset reach every setting by name', async () => {
    expect((await auth('set', 'jwt_exp', '120')).printed).toBe('jwt_exp = 120')
    expect((await run(['auth', 'set', 'jwt_exp', '--stdin'], '240')).printed).toBe('jwt_exp = 240')
    expect((await auth('get', 'jwt_exp')).printed).toBe('jwt_exp = 240')
    expect((await auth('reset', 'jwt_exp')).printed).toBe('jwt_exp = 3600')
    expect((await auth('get', 'session_timebox')).printed).toBe('session_timebox = off')
    expect((await auth('get')).printed).toContain('jwt_exp = 3600  (default)\n    Life of an access token.')
    expect((await auth('set', 'jwt_xep', '1')).noted).toContain('jwt_xep is not a setting; did you mean jwt_exp?')
    expect((await auth('get', 'nonsense')).exitCode).toBe(2)
    const bad = await run(['auth', 'set', 'jwt_keys', '--stdin'], 'hush-hush')
    expect([bad.exitCode, bad.noted.includes('hush-hush')]).toEqual([1, false])
  })

  it('templates lists, sets, shows and resets; one without the link is refused', async () => {
    expect((await auth('templates')).printed.split('\n').map((line) => line.split(/ +/, 2))).toEqual(
      ['confirmation', 'recovery', 'magic_link', 'invite', 'email_change'].map((kind) => [kind, 'default']),
    )
    const file = join(folder, 'mail.html')
    await writeFile(file, '<a href="{{ .ConfirmationURL }}">Go</a>')
    expect((await auth('templates', 'set', 'invite', '--subject', 'Come', '--html', file)).exitCode).toBe(0)
    expect((await auth('templates', 'list')).printed).toMatch(/^invite +own +Come$/m)
    const refused = await run(['auth', 'templates', 'set', 'invite', '--html', '-'], '<p>no link</p>')
    expect([refused.exitCode, refused.noted]).toEqual([1, expect.stringContaining('nothing was saved')])
    expect((await auth('templates', 'show', 'invite')).printed).toBe('<a href="{{ .ConfirmationURL }}">Go</a>')
    await auth('templates', 'reset', 'invite')
    expect((await auth('templates')).printed).toMatch(/^invite +default/m)
    expect((await auth('templates', 'set', 'invite', '--html', join(folder, 'none'))).noted).toContain('cannot be read')
  })

  test.each([
    [[], 'auth takes one of'],
    [['enabel'], 'auth knows no enabel; did you mean enable?'],
    [['toString'], 'auth knows no toString'],
    [['guests', 'maybe'], '"maybe" is neither on nor off'],
    [['guests', 'on', 'off'], 'usage: catalograph auth guests'],
    [['status', '--stdin'], 'usage: catalograph auth status'],
    [['templates', 'set', 'nonsense', '--subject', 'x'], 'KIND is one of'],
    [['templates', 'set', 'invite'], 'needs --subject, --html or both'],
    [['set', 'jwt_exp'], 'usage: catalograph auth set NAME VALUE'],
  ])('%j is misused', async (args, sentence) => {
    const { exitCode, noted } = await auth(...args)
    expect([exitCode, noted]).toEqual([2, expect.stringContaining(sentence)])
  })

  it('without a database says which setting it needs', async () => {
    const ran = await run(['auth', 'status'], '', { DATABASE_OWNER_URL: '' })
    expect([ran.exitCode, ran.noted]).toEqual([1, expect.stringContaining('no database is configured')])
  })

  it('is explained by its help', async () => {
    const { printed } = await auth('--help')
    expect(printed).toMatch(/^Usage: catalograph auth \[options\] SUBCOMMAND/)
    for (const name of [
      'enable',
      'disable',
      'url',
      'redirects',
      'google',
      'guests',
      'templates',
      'status',
      'set NAME',
    ]) {
      expect(printed).toContain(name)
    }
  })
})

describe('catalograph mails', () => {
  it('shows what was kept, newest first, and nothing that steers the terminal', async () => {
    expect((await run(['mails'])).noted).toBe('No mails are kept.')
    for (const [subject, html] of [
      ['First', '<p>One</p>'],
      [
        'Second \u001b[2J\r\nBcc: x',
        '<h2>Hello &lt;you&gt;</h2><p><a href="https://x/?a=1&amp;b=2">Go</a>\u001b[2J</p>',
      ],
    ]) {
      await db.query(
        "insert into catalograph_auth.outbox (kind, recipient, subject, html) values ('invite', 'a@example.com', $1, $2)",
        [subject, html],
      )
    }
    const { printed } = await run(['mails'])
    expect(printed).toMatch(/Subject: Second [^]*Hello <you>\n\nGo \(https:\/\/x\/\?a=1&b=2\)[^]*Subject: First[^]*One/)
    expect(printed).not.toMatch(/[\u001b\r]/)
    expect(printed).not.toMatch(/^Bcc/m)
    expect((await run(['mails', '--last', '1', '--html'])).printed).toContain('<h2>Hello')
    expect((await run(['mails', '--last', '1'])).printed).not.toContain('First')
    expect((await run(['mails', '--last', 'x'])).exitCode).toBe(2)
  })
})
