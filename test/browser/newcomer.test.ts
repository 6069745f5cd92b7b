import { spawn, type ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { createClient } from '../../runtime/client/client.ts'
import { startAuthServer, type AuthServer } from '../support/auth.ts'
import { findChromium, noChromium, useBrowser } from '../support/chromium.ts'
import { forSuite } from '../support/for-suite.ts'
import { titled } from '../support/programs.ts'
import { createApplication, type Application as Project, type Module } from '../support/generated-client.ts'

const path = findChromium()
const fixture = (name: string): URL => new URL(`../../fixtures/${name}`, import.meta.url)

describe.skipIf(path === null)(titled('the way of somebody new', noChromium()), { timeout: 120_000 }, () => {
  const browser = useBrowser(path ?? '')
  const server = forSuite(startAuthServer, { settings: null, sql: readFileSync(fixture('demo/schema.sql'), 'utf8') })
  const application = forSuite(() => startApplication(server))

  it('leads from the dashboard over a mailed link into the application, to one’s own rows and to a typed client', async () => {
    const { page: owner, context, shoot, errors } = await browser.open()
    await owner.goto(`${server.url}/dashboard`)
    await owner.getByLabel('service_role key').fill(server.serviceRole)
    await owner.getByRole('button', { name: 'Open' }).click()
    await owner.getByRole('link', { name: 'auth is not enabled' }).click()
    const addresses = owner.getByRole('form', { name: 'Auth and its addresses' })
    await addresses.getByLabel('Auth enabled').check()
    await addresses.getByRole('textbox', { name: 'Site URL' }).fill(application.url)
    await addresses.getByRole('button', { name: 'Save' }).click()
    await addresses.getByText('Saved.').waitFor()
    await expect.poll(async () => (await server.call('GET', '/settings')).status, { timeout: 5_000 }).toBe(200)

    const page = await context.newPage()
    await page.goto(application.url)
    await page.getByLabel('Email').fill('ada@example.com')
    await page.getByLabel('Password').fill('correct horse')
    await page.getByRole('button', { name: 'Sign up' }).click()
    await page.getByText('A mail is on its way').waitFor()

    await owner.getByRole('link', { name: 'Outbox' }).click()
    const link = await owner.getByRole('link', { name: /verify/ }).getAttribute('href')
    await page.goto(link ?? '')
    await page.getByText('Signed in: ada@example.com').waitFor()
    await page.getByLabel('User name').fill('ada')
    await page.getByLabel('First name').fill('Ada')
    await page.getByLabel('Last name').fill('L')
    await page.getByRole('button', { name: 'Begin' }).click()
    await page.getByLabel('Title').fill('A first post')
    await page.getByLabel('Text').fill('Of the newcomer.')
    await page.getByRole('button', { name: 'Keep as a draft' }).click()
    await page.getByText('A first post (draft)').waitFor()

    await owner.getByRole('link', { name: 'Users' }).click()
    await owner.getByRole('button', { name: 'Open GraphiQL as ada@example.com' }).click()
    const editor = owner.locator('.graphiql-query-editor .CodeMirror')
    await editor.click()
    await owner.keyboard.press('Control+a')
    await owner.keyboard.insertText('{ postCollection { edges { node { title status } } } }')
    await owner.keyboard.press('Control+Enter')
    await owner.locator('.graphiql-response').getByText('"A first post"').waitFor()
    await shoot('newcomer-graphiql')
    // The owner needs no comment for plans and the report.
    await owner.getByLabel('Explain').check()
    await editor.click()
    await owner.keyboard.press('Control+Enter')
    await owner.getByRole('region', { name: 'Plans' }).getByText('postCollection', { exact: true }).first().waitFor()
    await owner.getByRole('link', { name: 'Schema report' }).click()
    await owner.getByRole('heading', { name: 'Problems' }).waitFor()
    const titles = await titlesByTypedClient(server, 'ada@example.com')
    expect(titles).toMatchObject({ data: [{ title: 'A first post', status: 'DRAFT' }], error: null })

    await owner.getByRole('link', { name: 'Schema diagram' }).click()
    await owner.getByRole('img', { name: /types and \d+ relations/ }).waitFor()
    await owner.getByLabel('Focus').selectOption('Post')
    await shoot('newcomer-picture')
    expect(errors).toEqual([])
    await context.close()
  })
})

/** A request of a user with the generated client. */
async function titlesByTypedClient(server: AuthServer, email: string): Promise<unknown> {
  const project = createApplication()
  const { client, createDb } = await generated(project, server)
  try {
    await client.auth.signInWithPassword({ email, password: 'correct horse' })
    return await createDb(client).post.list({ first: 5, select: { title: true, status: true } })
  } finally {
    client.close()
    project.remove()
  }
}

async function generated(project: Project, { url, anon, secret }: AuthServer): Promise<Module> {
  const environment = { JWT_SECRET: secret }
  const made = await project.codegen(
    ['--from', url, '--role', 'authenticated', '--out', join(project.folder, 'db')],
    environment,
  )
  expect(made.exitCode, made.noted).toBe(0)
  const { createDb } = await project.load('db/db.js')
  return { createDb, client: createClient(url, anon, { auth: { persistSession: false, autoRefreshToken: false } }) }
}

interface Application {
  readonly url: string
  readonly stop: () => void
}

/** The example application on a port of its own. */
async function startApplication({ url, anon }: AuthServer): Promise<Application> {
  const environment = { ...process.env, PROJECT_URL: url, ANON_KEY: anon, PORT: '0' }
  const process_ = spawn(process.execPath, [fileURLToPath(fixture('application/serve.mjs'))], { env: environment })
  return { url: await firstLine(process_), stop: () => void process_.kill() }
}

function firstLine(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    child.stdout?.once('data', (chunk: Buffer) => resolve(chunk.toString('utf8').trim()))
    child.once('exit', () => reject(new Error('The application has ended.')))
  })
}
