import { execFile, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freePort } from '../../../../runtime/db/embedded/free-port.ts'
import { builtCli } from '../../../support/built-cli.ts'
import { findChromium, noChromium, useBrowser } from '../../../support/chromium.ts'
import { titled } from '../../../support/programs.ts'

/** Run by `npm run test:apps`, which sets this: the applications are installed from the registry. */
const isAsked = process.env['APPS'] !== undefined
const path = findChromium()
/** Without the settings of these tests. */
const env = { PATH: process.env['PATH'], HOME: process.env['HOME'] }
const run = (program: string, args: readonly string[], cwd: string, settings: Readonly<Record<string, string>> = {}) =>
  promisify(execFile)(program, args, { cwd, env: { ...env, ...settings } })

interface Running {
  readonly url: string
  readonly stop: () => Promise<void>
}

/** Runs a script of an application until its output names where it serves. */
async function start(folder: string, script: string, settings: Readonly<Record<string, string>>): Promise<Running> {
  const child = spawn('npm', ['run', script], { cwd: folder, detached: true, env: { ...env, ...settings } })
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const output: string[] = []
  const url = await new Promise<string>((resolve, reject) => {
    const hear = (chunk: Buffer): void => {
      output.push(chunk.toString())
      // Vite colours the port.
      const [, found] = /(http:\/\/localhost:\d+)/.exec(output.join('').replace(/\x1b\[\d+m/g, '')) ?? []
      if (found !== undefined) resolve(found)
    }
    child.stdout.on('data', hear)
    child.stderr.on('data', hear)
    void ended.then(() => reject(new Error(output.join(''))))
  })
  const stop = async (): Promise<void> => {
    process.kill(-(child.pid ?? 0), 'SIGINT')
    await ended
  }
  return { url, stop }
}

const click = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()
const line = (page: Page, text: string) => page.getByText(text, { exact: true }).first().waitFor({ timeout: 15_000 })

async function add(page: Page, title: string): Promise<void> {
  await page.getByLabel('What is to do?').fill(title)
  await click(page, 'Add')
  await page.getByRole('list', { name: 'To do' }).getByLabel(title, { exact: true }).waitFor()
}

async function fill(page: Page, email: string): Promise<void> {
  await page.getByLabel('Email').fill(email)
  await page.getByLabel('Password').fill('correct horse')
}

describe.skipIf(!isAsked || path === null)(
  titled('an application', isAsked ? noChromium() : 'npm run test:apps runs it'),
  { timeout: 120_000 },
  () => {
    const browser = useBrowser(path ?? '')
    let parent: string
    beforeAll(async () => {
      parent = await mkdtemp(join(tmpdir(), 'catalograph-apps-'))
      // The account of Postgres must be able to enter it.
      await chmod(parent, 0o755)
    })
    afterAll(() => rm(parent, { recursive: true, force: true }))

    async function install(template: string, like: string): Promise<string> {
      const folder = join(parent, template)
      await run(process.execPath, [builtCli, 'create', template, '--template', template], parent)
      // The second one has the packages of the first, and few more.
      const known = ['node_modules', 'package-lock.json'].map((name) => join(parent, like, name))
      if (template !== like && existsSync(join(parent, like))) await run('cp', ['-al', ...known, folder], parent)
      await run('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund'], folder)
      return folder
    }

    it.each(['vite', 'ssr'])('of the template %s has users, guests, pages and live rows', async (template) => {
      const folder = await install(template, 'vite')
      const port = String(await freePort())
      const { url, stop } = await start(folder, 'dev', { PORT: port, APP_PORT: '0' })
      try {
        const [first, second] = [await browser.open(), await browser.open()]
        await first.page.goto(url)
        await fill(first.page, 'ada@example.com')
        await click(first.page, 'Sign up')
        await line(first.page, 'ada@example.com')
        await add(first.page, 'Read')
        await second.page.goto(url)
        await fill(second.page, 'ada@example.com')
        await click(second.page, 'Sign in')
        await line(second.page, 'Read')
        await add(second.page, 'Write')
        await line(first.page, 'Write')
        const done = first.page.getByRole('list', { name: 'Done', exact: true })
        for (const title of ['1', '2', '3', '4', '5', '6']) {
          await add(first.page, title)
          await first.page.getByLabel(title, { exact: true }).click()
          await done.getByLabel(title, { exact: true }).waitFor()
        }
        // Of the first page and of changes before; a reload has the page alone.
        await first.page.reload()
        await expect.poll(() => done.getByRole('listitem').count()).toBe(5)
        await click(first.page, 'More')
        await expect.poll(() => done.getByRole('listitem').count()).toBe(6)

        const html = await (await second.context.request.get(url)).text()
        expect(html.includes('ada@example.com') && html.includes('Write')).toBe(template === 'ssr')

        // The session survives a reload, and its rows go with it.
        await first.page.reload()
        await line(first.page, 'ada@example.com')
        await click(first.page, 'Sign out')
        await click(first.page, 'Go on as a guest')
        await line(first.page, 'A guest')
        await line(first.page, 'Nothing here.')
        expect(await first.page.getByText('Write').count()).toBe(0)
        expect([first.errors, second.errors]).toEqual([[], []])

        const { stdout } = await run('npm', ['test'], folder)
        expect(stdout).toContain('# fail 0')
        const settings = { APP_PORT: '0', PROJECT_URL: `http://127.0.0.1:${port}`, ANON_KEY: await anonKey(folder) }
        await run('npm', ['run', 'build'], folder, settings)
        const built = await start(folder, template === 'vite' ? 'preview' : 'start', settings)
        try {
          await second.page.goto(built.url)
          // Cookies belong to a host, storages to a port of it.
          if (template === 'vite') {
            await fill(second.page, 'ada@example.com')
            await click(second.page, 'Sign in')
          }
          await line(second.page, 'Write')
        } finally {
          await built.stop()
        }
      } finally {
        await stop()
      }
    })
  },
)

const anonKey = async (folder: string): Promise<string> =>
  /^anon\s+(\S+)/m.exec((await run('npx', ['catalograph', 'keys'], folder)).stdout)?.[1] ?? ''
