import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { askOwner, startAuthServer, type AuthServer } from '../support/auth.ts'
import { builtCli } from '../support/built-cli.ts'
import { commandsIn } from '../support/examples.ts'
import { converse, curl } from '../support/page-requests.ts'
import { openEvents } from '../support/event-client.ts'
import { findChromium, noChromium, useBrowser, type WatchedPage } from '../support/chromium.ts'
import { forSuite } from '../support/for-suite.ts'
import { titled } from '../support/programs.ts'
import { enterDashboard, panelNames, showPanel, type PanelName } from '../support/dashboard.ts'
import { postsOf, postsSql } from '../support/posts.ts'
import { isWhole, leftToWhole } from '../support/whole.ts'
import { postGraphql } from '../support/post-graphql.ts'

const path = findChromium()

/** A table that no key reaches, and one that refers to another. */
const sql = `${postsSql}
  create table public.comments (
    id int primary key,
    post_id int not null references public.posts,
    parent_id int references public.comments,
    body text
  );
  comment on table public.comments is '@graphql({"live": {"enabled": true}})';
  alter table public.comments enable row level security;
  create policy reading on public.comments for select using (body <> 'hidden');
  create table public.keyless (note text);
  grant select on public.comments, public.keyless to anon, authenticated, service_role;`

describe.skipIf(path === null)(titled('the dashboard', noChromium()), { timeout: 90_000 }, () => {
  const browser = useBrowser(path ?? '')
  const server = forSuite(startAuthServer, { sql })
  beforeAll(async () => {
    for (const name of ['ada', 'bob']) await signUp(`${name}@example.com`)
    await server.db.query(
      `insert into public.comments (id, post_id, body)
      select n, min(id), case n when 1 then 'shown' else 'hidden' end from public.posts, generate_series(1, 2) n group by n`,
    )
  })

  const signUp = async (email: string): Promise<void> => {
    await server.call('POST', '/signup', { body: { email, password: 'correct horse' } })
    const [mail] = await server.mails(email)
    const { body } = await server.call('POST', '/verify', { body: { type: 'signup', email, token: mail?.code } })
    await postsOf(server).write(body.access_token, { title: `A post of ${email}` })
  }

  const enter = (
    panel: PanelName,
    { of = server, ...options }: Parameters<typeof browser.open>[0] & { readonly of?: AuthServer } = {},
  ): Promise<WatchedPage> => enterDashboard(browser, of, panel, options)

  it('comes in less than 400 kB, from here alone, under a policy that lets nothing else in', async () => {
    const { headers } = await fetch(`${server.url}/dashboard`)
    const policy = headers.get('content-security-policy') ?? ''
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self';")
    expect(policy).not.toMatch(/unsafe|https?:|\*/)
    const { page, context, bytes, origins, errors } = await enter('auth')
    await page.getByRole('heading', { name: 'Sign-in methods' }).waitFor()
    expect(await bytes()).toBeLessThan(400_000)
    expect([...origins]).toEqual([server.url])
    expect(errors).toEqual([])
    await context.close()
  })

  it('opens on the state of the project, whose cards lead to their panels', async () => {
    await postGraphql(server, { query: 'query Unknown { nothing }' })
    const { page, context, errors } = await enter('home')
    const facts = page.getByLabel('Project')
    expect(await facts.innerText()).toMatch(/State\s+serving[^]*Postgres\s+\d+[^]*authenticated sees\s+2 of 3 tables/)
    await facts.getByText('2, 2 new this week').waitFor()
    const problems = page.getByRole('region', { name: 'Problems' })
    await problems.getByText(/^\d+ problems, the first of them:$/).waitFor()
    await problems
      .getByRole('button', { name: /^Copy SQL for / })
      .first()
      .waitFor()
    const failed = page.getByRole('region', { name: 'Failed requests' })
    await failed.getByText('Unknown as anon: GRAPHQL_VALIDATION_FAILED').waitFor()
    await failed.getByRole('link', { name: 'Failed requests' }).click()
    await page.getByRole('row', { name: /Unknown.*anon/ }).waitFor()
    expect(errors).toEqual([])
    await context.close()
  })

  it('takes no key but the service key, and keeps it for the tab alone until it is forgotten', async () => {
    const { page, context, shoot } = await browser.open()
    await page.goto(`${server.url}/dashboard`)
    const field = page.getByLabel('service_role key')
    for (const [key, refusal] of [
      [server.anon, /not its service_role key/],
      ['nonsense', /does not belong to this project/],
    ] as const) {
      await field.fill(key)
      await page.getByRole('button', { name: 'Open' }).click()
      await page.getByRole('alert').filter({ hasText: refusal }).waitFor()
      expect([await field.inputValue(), await field.getAttribute('aria-invalid')]).toEqual([key, 'true'])
    }
    await shoot('sign-in')
    await field.fill(server.serviceRole)
    await page.keyboard.press('Enter')
    await page.getByRole('navigation', { name: 'Panels' }).waitFor()
    const kept = await context.storageState({ indexedDB: true })
    expect(JSON.stringify(kept)).not.toContain(server.serviceRole.split('.')[2])
    await page.reload()
    await page.getByRole('navigation', { name: 'Panels' }).waitFor()
    const other = await context.newPage()
    await other.goto(`${server.url}/dashboard`)
    await other.getByLabel('service_role key').waitFor()
    await page.getByRole('button', { name: 'Forget the key' }).click()
    await field.waitFor()
    await page.reload()
    await field.waitFor()
    expect(await page.evaluate('sessionStorage.length')).toBe(0)
    await context.close()
  })

  it('saves settings, shows a refusal at its field and keeps what was typed', async () => {
    const { page, context, shoot } = await enter('auth')
    const ways = page.getByRole('form', { name: 'Sign-in methods' })
    await ways.getByLabel('Guest sign-in').check()
    await ways.getByRole('button', { name: 'Save' }).click()
    await ways.getByText('Saved.').waitFor()
    const addresses = page.getByRole('form', { name: 'Auth and its addresses' })
    const site = addresses.getByRole('textbox', { name: 'Site URL' })
    await site.fill('nonsense')
    await addresses.getByLabel('Also allowed addresses').fill('https://a.example/**\nhttps://b.example')
    await addresses.getByRole('button', { name: 'Save' }).click()
    const problem = addresses.getByRole('alert')
    await problem.waitFor()
    expect(await site.getAttribute('aria-describedby')).toContain(await problem.getAttribute('id'))
    expect(await site.inputValue()).toBe('nonsense')
    await shoot('settings-refused')
    await site.fill('https://shop.example.com')
    await addresses.getByRole('button', { name: 'Save' }).click()
    await addresses.getByText('Saved.').waitFor()
    const google = page.getByRole('form', { name: 'Google' })
    await google.getByLabel('Google enabled').check()
    await google.getByRole('button', { name: 'Save' }).click()
    await google.getByText('Missing: Google client ID, Google secret.').waitFor()
    const sessions = page.getByRole('form', { name: 'Sessions and tokens' })
    await sessions.getByRole('textbox', { name: 'Access token life' }).fill('90m')
    await sessions.getByRole('button', { name: 'Save' }).click()
    await sessions.getByText('Now 90m.').waitFor()
    expect(await sessions.getByRole('textbox', { name: 'Access token life' }).inputValue()).toBe('5400')
    const { rows } = await server.db.query('select name, value from catalograph_auth.settings')
    const stored = new Map(rows.map(({ name, value }: { name: string; value: string }) => [name, value]))
    expect(stored.get('jwt_exp')).toBe('5400')
    expect([stored.get('anonymous_enabled'), stored.get('site_url'), stored.get('redirect_allow_list')]).toEqual([
      'on',
      'https://shop.example.com',
      'https://a.example/**,https://b.example',
    ])
    await context.close()
  })

  it('shows a template as its mail will be, and says what is wrong with it where it is wrong', async () => {
    const { page, context, shoot, errors, origins } = await enter('templates')
    await page.getByRole('button', { name: 'Invite' }).click()
    const form = page.getByRole('form', { name: 'Invite' })
    const frame = form.frameLocator('iframe')
    const html = form.getByLabel('HTML')
    await html.fill('<p>Hello {{ .Email }}</p>')
    await form.getByRole('alert').filter({ hasText: 'must show the link' }).waitFor()
    expect(await form.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true)
    await shoot('template-refused')
    const evil = '<script>parent.evil = 1</script><img src="https://evil.example/x" onerror="parent.evil = 1">'
    await html.fill(`<p style="color: red">Hello {{ .Email }}</p>${evil}<a href="{{ .ConfirmationURL }}">Come in</a>`)
    await frame.getByText('Hello ada@example.com').waitFor()
    await frame.getByText('Come in').click()
    // Nothing can be evaluated in the frame, so the page looks into it.
    const document = "document.querySelector('form:not([hidden] *) iframe').contentDocument"
    expect(await page.evaluate(`getComputedStyle(${document}.querySelector('p')).color`)).toBe('rgb(255, 0, 0)')
    expect(await page.evaluate('globalThis.evil')).toBeUndefined()
    expect([...origins]).toEqual([server.url])
    expect(errors.filter((error) => !/Content Security Policy|Blocked script execution/.test(error))).toEqual([])
    await form.getByLabel('Subject').fill('Come, {{ .Nobody }}')
    await form.getByRole('alert').filter({ hasText: '{{ .Nobody }} is not a variable of mails' }).waitFor()
    await form.getByLabel('Subject').fill('Come to {{ .SiteURL }}')
    await html.fill('<a href="{{ .ConfirmationURL }}">Come in</a>')
    await form.getByRole('button', { name: 'Save' }).click()
    await form.getByText('Saved. The next mail uses it.').waitFor()
    const { rows } = await server.db.query('select kind, subject from catalograph_auth.templates')
    expect(rows).toEqual([{ kind: 'invite', subject: 'Come to {{ .SiteURL }}' }])
    await form.getByRole('button', { name: 'Back to the default' }).click()
    await form.getByText('The default is back.').waitFor()
    await context.close()
  })

  it('shows the mails that were kept, with their links beside them', async () => {
    const { page, context, shoot, checkAccess, errors } = await enter('outbox')
    await page.getByRole('button', { name: /bob@example.com/ }).click()
    const mail = page.getByRole('region', { name: 'Mail to bob@example.com' })
    await mail.frameLocator('iframe').getByText('Somebody signed up with bob@example.com.').waitFor()
    const [kept] = await server.mails('bob@example.com')
    expect(await mail.getByRole('link').first().getAttribute('href')).toBe(kept?.url)
    await mail.getByText('As text').click()
    expect(await mail.locator('pre').textContent()).toContain(`code: ${kept?.code}`)
    await checkAccess()
    await shoot('outbox')
    expect(errors).toEqual([])
    await context.close()
  })

  it('finds users, and opens GraphiQL as one of them: a query, its rows, its plan', async () => {
    const { page, context, shoot, checkAccess, errors, origins } = await enter('users')
    await page.getByLabel('Search by email or name').fill('ada@')
    await page.getByText('1 user, page 1 of 1').waitFor()
    await shoot('users')
    await page.getByRole('button', { name: 'Open GraphiQL as ada@example.com' }).click()
    const editor = page.locator('.graphiql-query-editor .CodeMirror')
    await editor.waitFor()
    await page.getByLabel('Explain').check()
    await editor.click()
    await page.keyboard.press('Control+a')
    await page.keyboard.insertText('{ postsCollection(first: 5) { edges { node { title } } } }')
    await page.keyboard.press('Control+Enter')
    const result = page.locator('.graphiql-response')
    await result.getByText('"A post of ada@example.com"').waitFor()
    expect(await result.innerText()).not.toMatch(/bob|extensions/)
    const plans = page.getByRole('region', { name: 'Plans' })
    await plans.getByText('postsCollection', { exact: true }).first().waitFor()
    await plans
      .getByText(/on posts/)
      .first()
      .waitFor()
    await shoot('graphiql')
    await checkAccess(['.graphiql-tabs'])
    await page.getByLabel('As', { exact: true }).selectOption('anon')
    await editor.click()
    await page.keyboard.press('Control+Enter')
    await result.getByText('"edges": []').waitFor()
    expect([errors, [...origins]]).toEqual([[], [server.url]])
    await context.close()
  })

  it('shows what an application needs to reach the project, to copy', async () => {
    const { page, context, shoot } = await enter('connect')
    expect(await page.getByLabel('anon key', { exact: true }).innerText()).toBe(server.anon)
    expect(await page.getByLabel('@catalograph/client', { exact: true }).innerText()).toContain(server.url)
    expect(await page.innerText('body')).not.toContain(server.serviceRole.split('.')[2])
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.getByRole('button', { name: 'Copy Address' }).click()
    await page.getByText('Copied.').waitFor()
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(server.url)
    await shoot('connect')
    await context.close()
  })

  it('shows what an application needs as texts that run unchanged', async () => {
    const { page, context } = await enter('connect')
    const text = (title: string): Promise<string> => page.getByLabel(title, { exact: true }).innerText()
    const folder = mkdtempSync(join(tmpdir(), 'catalograph-connect-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    symlinkSync(join(import.meta.dirname, '../../node_modules'), join(folder, 'node_modules'))
    const [request = []] = commandsIn((await text('curl')).replace(server.url, 'http://127.0.0.1:54321'))
    await curl(server, request)
    const ours = await text('@catalograph/client')
    expect(await converse(server, `${ours}\nconsole.log(data, error)`, folder)).toBe("{ __typename: 'Query' } null\n")
    const account = `{ email: 'ada@example.com', password: 'correct horse' }`
    const signIn = `const { data } = await supabase.auth.signInWithPassword(${account})\nconsole.log(data.user.email)`
    const theirs = `${await text('supabase-js (auth)')}\n${signIn}\nprocess.exit()`
    expect(await converse(server, theirs, folder)).toContain('ada@example.com')
    const [codegen = []] = commandsIn(await text('Typed client'))
    const args = codegen.slice(2).map((word) => word.replace('$SERVICE_ROLE_KEY', server.serviceRole))
    const { stderr } = await promisify(execFile)(process.execPath, [builtCli, ...args], { cwd: folder, env: {} })
    expect([codegen.slice(0, 2), stderr]).toEqual([['npx', 'catalograph'], expect.stringContaining('authenticated')])
    expect(existsSync(join(folder, 'src/db/db.js'))).toBe(true)
    await context.close()
  })

  it('creates, invites, bans and deletes users', async () => {
    const { page, context, errors } = await enter('users')
    const form = page.getByRole('form', { name: 'New user' })
    const row = (email: string) => page.getByRole('row', { name: new RegExp(email) })
    await form.getByLabel('Email').fill('carl@example.com')
    await form.getByLabel('Password').fill('abc')
    await form.getByText('Short: sign-up asks for 6 characters').waitFor()
    await form.getByLabel('Password').fill('correct horse')
    await form.getByText('Short: sign-up').waitFor({ state: 'detached' })
    await form.getByRole('button', { name: 'Create' }).click()
    await row('carl@example.com').getByText('confirmed').waitFor()
    const { status } = await server.call('POST', '/token?grant_type=password', {
      body: { email: 'carl@example.com', password: 'correct horse' },
    })
    expect(status).toBe(200)
    await form.getByLabel('Email').fill('ada@example.com')
    await form.getByRole('button', { name: 'Invite' }).click()
    await form.getByRole('alert').filter({ hasText: 'email_exists' }).waitFor()
    await form.getByLabel('Email').fill('dora@example.com')
    await form.getByRole('button', { name: 'Invite' }).click()
    await row('dora@example.com').getByText('not confirmed').waitFor()
    expect((await server.mails('dora@example.com')).length).toBe(1)
    await page.getByRole('button', { name: 'Ban carl@example.com' }).click()
    await row('carl@example.com').getByText('banned').waitFor()
    await page.getByRole('button', { name: 'Unban carl@example.com' }).click()
    await row('carl@example.com').getByText('confirmed').waitFor()
    await page.getByRole('button', { name: 'Delete carl@example.com' }).click()
    await page.getByRole('button', { name: 'Keep' }).click()
    for (const email of ['carl@example.com', 'dora@example.com']) {
      await page.getByRole('button', { name: `Delete ${email}` }).click()
      await page.getByRole('button', { name: `Delete ${email} for good` }).click()
      await row(email).waitFor({ state: 'detached' })
    }
    expect(errors.filter((error) => !/422|status/.test(error))).toEqual([])
    await context.close()
  })

  it('shows what happened to a user, and takes a second factor away once that was said twice', async () => {
    const email = 'ada@example.com'
    await server.db.query(
      `insert into auth.mfa_factors (id, user_id, friendly_name, factor_type, status, secret, created_at, updated_at)
      select gen_random_uuid(), id, 'her telephone', 'totp', 'verified', 'a secret', now(), now()
      from auth.users where email = $1`,
      [email],
    )
    const { page, context, shoot, checkAccess, errors } = await enter('users')
    await page.getByRole('button', { name: `Details of ${email}` }).click()
    const details = page.getByRole('region', { name: `Details of ${email}`, exact: true })
    await details.getByRole('listitem').filter({ hasText: 'her telephone: totp, verified' }).waitFor()
    const log = details.getByRole('region', { name: `Audit log of ${email}` })
    await log.getByRole('row', { name: /user_signedup/ }).waitFor()
    expect(await page.evaluate('document.activeElement.textContent')).toBe(email)
    await checkAccess()
    await shoot('user-details')
    const text = await details.innerText()
    expect(text).not.toMatch(/a secret|bob@/)
    await details.getByRole('button', { name: 'Remove factor her telephone' }).click()
    await details.getByRole('button', { name: 'Remove factor her telephone for good' }).click()
    await details.getByText('No second factors.').waitFor()
    await page.getByRole('link', { name: 'Audit log' }).click()
    await page.getByLabel('Search in').selectOption('action')
    await page.getByLabel('Text').fill('factor_deleted')
    await page.getByText('1 entry, page 1 of 1').waitFor()
    await page.getByRole('region', { name: 'Audit log', exact: true }).getByText(`user_email: ${email}`).waitFor()
    await shoot('audit-found')
    expect(errors).toEqual([])
    await context.close()
  })

  it('shows requests that failed, without their values, and explains their documents', async () => {
    const query = 'query Wrong { postsCollection(filter: {title: {eq: "hunter2"}, id: {gt: 0}}) { nothing } }'
    await postGraphql(server, { query })
    const { page, context, shoot, checkAccess } = await enter('requests')
    const row = page.getByRole('row', { name: /Wrong.*anon.*GRAPHQL_VALIDATION_FAILED/ })
    await row.waitFor()
    await checkAccess()
    await shoot('requests-failed')
    await page.getByLabel('Show').selectOption('slow')
    await row.waitFor({ state: 'detached' })
    await page.getByLabel('Show').selectOption('failed')
    await row.getByRole('button', { name: 'Explain Wrong' }).click()
    const editor = page.locator('.graphiql-query-editor .CodeMirror')
    await editor.getByText('Wrong').waitFor()
    const shown = await editor.innerText()
    expect([shown.includes('hunter2'), shown.includes('eq: ""')]).toEqual([false, true])
    expect(await page.getByLabel('Explain').isChecked()).toBe(true)
    await context.close()
  })

  it('shows live queries: streams, runs, lag, and the tables that are watched', async () => {
    const query = 'subscription { commentsCollection(filter: {id: {eq: 900}}) { edges { node { body } } } }'
    const stream = await openEvents(`${server.url}/graphql/v1`, { query }, { apikey: server.anon })
    await stream.next()
    await server.db.query(
      `insert into public.comments (id, post_id, body) select 900, min(id), 'new' from public.posts`,
    )
    expect((await stream.next())?.data).toContain('"new"')
    await server.db.query(
      `insert into public.comments (id, post_id, body) select 901, min(id), 'other' from public.posts`,
    )
    const { page, context, shoot, checkAccess, errors } = await enter('live')
    const refresh = page.getByRole('button', { name: 'Refresh' })
    const told = page.getByRole('row', { name: 'public.comments 1 2 1', exact: true })
    await expect.poll(async () => (await refresh.click(), told.count()), { timeout: 5_000 }).toBe(1)
    const figures = page.getByLabel('Live queries now')
    expect(await figures.innerText()).toMatch(/1, which ask 1 different queries[^]*median \d+ ms.* of the last 1$/)
    await page.getByRole('row', { name: 'a reported change 1 0 0', exact: true }).waitFor()
    await checkAccess()
    await shoot('live')
    expect(errors).toEqual([])
    stream.close()
    await server.db.query('delete from public.comments where id >= 900')
    await context.close()
  })

  it('runs a subscription in GraphiQL, whose answers follow the rows until it is stopped', async () => {
    const { page, context, errors } = await enter('graphiql')
    const editor = page.locator('.graphiql-query-editor .CodeMirror')
    await editor.click()
    await page.keyboard.press('Control+a')
    await page.keyboard.insertText(
      'subscription { commentsCollection(filter: {id: {gt: 800, lt: 900}}) { edges { node { body } } } }',
    )
    await page.keyboard.press('Control+Enter')
    const result = page.locator('.graphiql-response')
    await result.getByText('"edges": []').waitFor()
    const write = (id: number) =>
      server.db.query(
        `insert into public.comments (id, post_id, body) select ${id}, min(id), 'number ${id}' from public.posts`,
      )
    await write(801)
    await result.getByText('"number 801"').waitFor()
    const streams = async (): Promise<number> => {
      const { body } = await askOwner(server, 'GET', '/live')
      return body.streams as number
    }
    await page.getByRole('button', { name: /Stop/ }).click()
    await expect.poll(streams).toBe(0)
    await write(802)
    await server.db.query('delete from public.comments where id in (801, 802)')
    expect(errors).toEqual([])
    await context.close()
  })

  it('shows policies, and what a role and a user reach by them', async () => {
    const { page, context, shoot, checkAccess, errors } = await enter('policies')
    const row = (name: string) => page.getByRole('row', { name: new RegExp(`^${name} `) })
    expect(await row('public.comments').innerText()).toMatch(
      /reading: select, to public[^]*using \(body <> 'hidden'::text\)/,
    )
    await page.getByLabel('Filter by name').fill('COMM')
    await page.getByText('1 of 3 tables').waitFor()
    await page.getByRole('button', { name: 'Try', exact: true }).click()
    await page.getByText('1 of 3 tables, 1 tried').waitFor()
    const cells = async (): Promise<readonly string[]> =>
      (await row('public.comments').getByRole('cell').allInnerTexts()).slice(1, 5)
    expect(await cells()).toEqual([
      '1 row',
      'no: insert is not granted',
      'no: update is not granted',
      'no: delete is not granted',
    ])
    await page.getByLabel('Filter by name').fill('')
    let sendUsers: (() => void) | undefined
    const nameIsWritten = new Promise<void>((resolve) => (sendUsers = resolve))
    await page.route('**/admin/users?*', async (route) => {
      await nameIsWritten
      await route.continue()
    })
    await page.getByLabel('As', { exact: true }).selectOption('user')
    await page.getByRole('combobox', { name: 'User' }).fill('ada@example.com')
    sendUsers?.()
    await page.getByText('Chosen: ada@example.com').waitFor()
    await page.getByText('3 of 3 tables', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Try', exact: true }).click()
    await page.getByText('3 of 3 tables, 3 tried as ada@example.com').waitFor()
    expect((await row('public.posts').getByRole('cell').allInnerTexts())[1]).toBe('1 row')
    await checkAccess()
    await shoot('policies-tried')
    await page.getByLabel('Show').selectOption('off')
    await page.getByText('1 of 3 tables, 1 tried').waitFor()
    expect(errors).toEqual([])
    await context.close()
  })

  it('filters the schema report, and says what to correct', async () => {
    const { page, context, shoot } = await enter('report')
    const table = page.getByRole('region', { name: 'Objects of the schema' })
    await table.getByRole('row', { name: /keyless.*no primary key/ }).waitFor()
    await page.getByLabel('Show').selectOption('missing')
    expect(await table.getByRole('row').count()).toBe(2)
    await page.getByLabel('Show').selectOption('all')
    await page.getByLabel('Filter').fill('comments')
    await page.getByText('1 of 3, for anon').waitFor()
    await page.getByText('create index on public.comments (post_id);').waitFor()
    await table
      .getByRole('row', { name: /comments.*yes; a write runs a trigger on public.comments; pins: id/ })
      .waitFor()
    await shoot('report')
    await context.close()
  })

  it('draws the types and what leads from one to another', async () => {
    const { page, context, shoot } = await enter('picture')
    await page.getByRole('img', { name: '2 types and 2 relations' }).waitFor()
    await page.getByLabel('Filter by name').fill('post')
    await page.getByText('2 of 2 types').waitFor()
    await page.getByLabel('With related types').uncheck()
    await page.getByRole('img', { name: '1 types and 0 relations' }).waitFor()
    await page.getByLabel('Filter by name').fill('')
    await page.getByRole('img', { name: '2 types and 2 relations' }).waitFor()
    await page.getByLabel('Focus').selectOption('Comments')
    await page.getByText('2 types, 2 relations as a list').click()
    expect(await page.getByRole('listitem').filter({ hasText: 'leads to' }).allInnerTexts()).toEqual([
      'Comments.post leads to one Posts',
      'Comments.parent leads to one Comments',
    ])
    await shoot('picture')
    await context.close()
  })

  it('is walked through by keyboard', async () => {
    const { page, context } = await enter('auth')
    for (let presses = 0; presses < 12; presses += 1) {
      await page.keyboard.press('Tab')
      if ((await page.evaluate('document.activeElement.textContent')) === 'Outbox') break
    }
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Outbox', level: 1 }).waitFor()
    expect(await page.evaluate('document.activeElement.tagName')).toBe('H1')
    await context.close()
  })

  it.for([
    ['light', 1280],
    ['dark', 360],
  ] as const)(
    'has nothing that axe-core objects to, %s and %i wide, and fits',
    async ([colorScheme, width], { skip }) => {
      skip(!isWhole && width > 360, leftToWhole)
      const watched = await enter('auth', { colorScheme, viewport: { width, height: 800 } })
      const { page, context, shoot, checkAccess } = watched
      for (const panel of panelNames) {
        await showPanel(watched, server, panel)
        // GraphiQL's tabs hold buttons, which is its own doing.
        await checkAccess(['.graphiql-tabs'])
        expect([panel, await page.evaluate('document.documentElement.scrollWidth')]).toEqual([panel, width])
        await shoot(`${panel}-${colorScheme}`)
      }
      await context.close()
    },
  )

  it('prepares a database that has no auth yet, and enables it', async () => {
    const bare = await startAuthServer({ settings: null, sql: 'drop schema catalograph_auth, auth cascade' })
    onTestFinished(() => bare.stop())
    const { page, shoot } = await enter('auth', { of: bare })
    await shoot('not-prepared')
    await page.getByLabel('Site URL').fill('https://app.example.com')
    await page.getByRole('button', { name: 'Prepare and enable' }).click()
    await page.getByText('enabled', { exact: true }).waitFor()
    await expect.poll(async () => (await bare.call('GET', '/settings')).status, { timeout: 5_000 }).toBe(200)
  })
})
