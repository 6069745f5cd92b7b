import { mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { rolldown } from 'rolldown'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startAuthServer } from '../../../support/auth.ts'
import { findChromium, noChromium, useBrowser, type WatchedPage } from '../../../support/chromium.ts'
import { forSuite } from '../../../support/for-suite.ts'
import { createApplication, type Application } from '../../../support/generated-client.ts'
import { titled } from '../../../support/programs.ts'
import { until } from '../../../support/until.ts'

const root = new URL('../../../..', import.meta.url).pathname
const path = findChromium()

const sql = `
  create table public.todo (
    id uuid primary key default gen_random_uuid(),
    owner uuid not null default auth.uid(),
    title text not null check (title <> ''),
    tags text[]
  );
  alter table public.todo enable row level security;
  create policy own on public.todo using (owner = (select auth.uid()));
  comment on table public.todo is '@graphql({"name": "Todo", "live": {"enabled": true}})';
  grant select, insert, update on public.todo to authenticated;`

/** An application with the generated client and React, as an application has them. */
function createReactApplication(): Application {
  const app = createApplication()
  mkdirSync(join(app.folder, 'node_modules/@types'))
  for (const name of ['react', 'react-dom', '@types/react', '@types/react-dom'])
    symlinkSync(join(root, 'node_modules', name), join(app.folder, 'node_modules', name))
  for (const name of ['app', 'page', 'server'])
    app.write(`${name}.tsx`, readFileSync(new URL(`${name}.txt`, import.meta.url), 'utf8'))
  const [, example = ''] = /^```tsx\n([^]*?)^```$/m.exec(readFileSync(join(root, 'docs/react.md'), 'utf8')) ?? []
  app.write('example.tsx', example)
  return app
}

async function bundleTo(app: Application, name: string, platform: 'browser' | 'node'): Promise<string> {
  const build = await rolldown({
    input: join(app.folder, `${name}.tsx`),
    platform,
    resolve: { extensionAlias: { '.js': ['.js', '.tsx'] } },
    transform: { define: { 'process.env.NODE_ENV': '"development"' }, jsx: { runtime: 'automatic' } },
  })
  const { output } = await build.generate({ format: 'esm' })
  await build.close()
  return output[0].code
}

describe.skipIf(path === null)(titled('the hooks for React', noChromium()), { timeout: 60_000 }, () => {
  const browser = useBrowser(path ?? '')
  const server = forSuite(startAuthServer, { settings: { autoconfirm: 'on' }, sql })
  let app: Application
  const site = createServer()
  let [script, body] = ['', '']
  const open = async (html = '', initial?: unknown): Promise<WatchedPage> => {
    const state = Object.entries({ url: server.url, anon: server.anon, ...(initial !== undefined && { initial }) })
    const set = state.map(([name, value]) => `globalThis.${name} = ${JSON.stringify(value)};`).join('')
    body = `<!doctype html><title>Todos</title><link rel="icon" href="data:,"><div id="root">${html}</div><script>${set}</script><script type="module" src="/page.js"></script>`
    return browser.open()
  }
  const address = (): string => `http://127.0.0.1:${(site.address() as AddressInfo).port}`

  beforeAll(async () => {
    app = createReactApplication()
    const from = ['--from', server.db.ownerUrl, '--role', 'authenticated', '--out', join(app.folder, 'db')]
    const made = await app.codegen(from)
    expect(made.exitCode, made.noted).toBe(0)
    script = await bundleTo(app, 'page', 'browser')
    site.on('request', (request, response) => {
      const isScript = request.url === '/page.js'
      response.writeHead(200, { 'content-type': isScript ? 'text/javascript' : 'text/html; charset=utf-8' })
      response.end(isScript ? script : body)
    })
    await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve))
  })
  afterAll(() => {
    site.closeAllConnections()
    site.close()
    app?.remove()
  })

  const sign = (page: Page, kind: 'signUp' | 'signInWithPassword', name: string): Promise<unknown> =>
    page.evaluate(`client.auth.${kind}({ email: '${name}@example.com', password: 'correct horse' })`)
  const line = (page: Page, text: string) => page.getByText(text, { exact: true }).waitFor({ timeout: 10_000 })
  const click = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()

  it('are typed by the generated client, in the example of their page too', () => {
    expect(app.typeCheck(['app.tsx', 'page.tsx', 'server.tsx', 'example.tsx'], ['--jsx', 'react-jsx'])).toBe('')
  })

  it('show pages, live rows and changes before they are confirmed, each of the present user alone', async () => {
    const [ada, bob] = [await open(), await browser.open()]
    for (const { page } of [ada, bob]) await page.goto(address())
    await line(ada.page, 'a stranger')
    // The role anon has no table: the errors are the client's.
    await line(ada.page, 'GRAPHQL_VALIDATION_FAILED')
    await sign(ada.page, 'signUp', 'ada')
    await line(ada.page, 'ada@example.com')
    await server.db.query(
      `insert into todo (owner, title) select id, title from auth.users, unnest(array['a', 'b', 'c']) title`,
    )
    await line(ada.page, 'all: a b c')
    await line(ada.page, 'kept: 3')
    await sign(bob.page, 'signInWithPassword', 'ada')
    await line(bob.page, 'pages: a b')
    await click(bob.page, 'More')
    await line(bob.page, 'pages: a b c')
    expect(await bob.page.getByRole('button', { name: 'More' }).count()).toBe(0)

    // The mutation is held: the row is there before.
    let release = (): void => undefined
    const held = new Promise<void>((resolve) => (release = resolve))
    await bob.page.route('**/graphql/v1', async (route) => {
      if (route.request().postData()?.includes('insertInto') === true) await held
      await route.continue()
    })
    await click(bob.page, 'Add')
    await line(bob.page, 'pages: a b c new')
    await line(bob.page, 'all: a b c new')
    await line(bob.page, 'pending')
    expect(await ada.page.getByText('all: a b c new').count()).toBe(0)
    release()
    await line(ada.page, 'all: a b c new')
    await line(bob.page, 'fine')
    await line(bob.page, 'pages: a b c new')
    // The stream brings the row in place of the change.
    await bob.page.waitForTimeout(30)
    await line(bob.page, 'all: a b c new')

    await click(bob.page, 'Add nothing')
    await line(bob.page, 'DATABASE_REFUSED')
    await line(bob.page, 'all: a b c new')
    await line(bob.page, 'pages: a b c new')

    await bob.context.setOffline(true)
    await bob.page.evaluate(`dispatchEvent(new Event('offline'))`)
    await server.db.query(`update todo set title = 'z' where title = 'new'`)
    await line(ada.page, 'all: a b c z')
    await bob.context.setOffline(false)
    await line(bob.page, 'all: a b c z')

    await sign(bob.page, 'signUp', 'bob')
    await line(bob.page, 'bob@example.com')
    await line(bob.page, 'all:')
    await line(bob.page, 'pages:')
    await bob.page.evaluate('client.auth.signOut()')
    await line(bob.page, 'a stranger')
    expect([ada.errors, bob.errors]).toEqual([[], []])
    await Promise.all([ada.context.close(), bob.context.close()])
  })

  it('render on a server what it has requested, and go on from there in the browser', async () => {
    const { data } = await server.client().auth.signUp({ email: 'carl@example.com', password: 'correct horse' })
    const { access_token = '', refresh_token = '', user } = data.session ?? {}
    await server.db.query(`insert into todo (owner, title) select $1, unnest(array['x', 'y', 'z'])`, [user?.id])
    app.write('server.mjs', await bundleTo(app, 'server', 'node'))
    const { render } = await app.load('server.mjs')
    const { html, initial, requests } = await render(server.url, server.anon, { access_token, refresh_token })
    expect(html).toContain('carl@example.com')
    expect(html).toContain('x y z')
    expect(requests).toEqual([2, 0])

    const { page, errors, context } = await open(html, initial)
    const sent: string[] = []
    page.on('request', (request) => sent.push(request.postData() ?? ''))
    const sockets: string[] = []
    page.on('websocket', (socket) => socket.on('framesent', ({ payload }) => sockets.push(String(payload))))
    await page.addInitScript(
      `localStorage.setItem('sb-127-auth-token', ${JSON.stringify(JSON.stringify(data.session))})`,
    )
    await page.goto(address())
    await click(page, 'More')
    await line(page, 'pages: x y z')
    await line(page, 'kept: 3')
    expect(sent.filter((one) => one.includes('todoCollection'))).toEqual([expect.stringContaining('after')])
    await until(() => sockets.some((one) => one.includes('subscribe')))
    await click(page, 'Hide')
    await until(() => sockets.some((one) => one.includes('complete')))
    expect(errors).toEqual([])
    await context.close()
  })
})
