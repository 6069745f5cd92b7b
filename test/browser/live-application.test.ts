import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startAuthServer, type AuthServer } from '../support/auth.ts'
import { findChromium, noChromium, useBrowser } from '../support/chromium.ts'
import { titled } from '../support/programs.ts'

const path = findChromium()
const fixture = (name: string): URL => new URL(`../../fixtures/${name}`, import.meta.url)

describe.skipIf(path === null)(
  titled('the example application in two windows', noChromium()),
  { timeout: 120_000 },
  () => {
    const browser = useBrowser(path ?? '')
    let server: AuthServer
    let application: ChildProcess
    let url: string
    beforeAll(async () => {
      const sql = readFileSync(fixture('demo/schema.sql'), 'utf8')
      server = await startAuthServer({ settings: { autoconfirm: 'on' }, sql })
      const env = { ...process.env, PROJECT_URL: server.url, ANON_KEY: server.anon, PORT: '0' }
      application = spawn(process.execPath, [fileURLToPath(fixture('application/serve.mjs'))], { env })
      const [line] = (await once(application.stdout ?? application, 'data')) as [Buffer]
      url = line.toString().trim()
    })
    afterAll(async () => {
      application?.kill()
      await server?.stop()
    })

    async function join(page: Page, name: string): Promise<void> {
      await page.goto(url)
      await page.getByLabel('Email').fill(`${name}@example.com`)
      await page.getByLabel('Password').fill('correct horse')
      await page.getByRole('button', { name: 'Sign up' }).click()
      await page.getByLabel('User name').fill(name)
      await page.getByLabel('First name').fill(name)
      await page.getByLabel('Last name').fill('L')
      await page.getByRole('button', { name: 'Begin' }).click()
      await page.getByText(`Signed in: ${name}`, { exact: true }).waitFor()
    }
    async function say(page: Page, body: string): Promise<void> {
      await page.getByLabel('Comment').fill(body)
      await page.getByRole('button', { name: 'Say it' }).click()
    }

    it('shows each what the other writes, and goes on after the connection was lost and when a user signs out', async () => {
      const [ada, bob] = [await browser.open(), await browser.open()]
      await join(ada.page, 'ada')
      await bob.page.goto(url)
      await ada.page.getByLabel('Title').fill('A first post')
      await ada.page.getByLabel('Text').fill('Of two windows.')
      await ada.page.getByRole('button', { name: 'Keep as a draft' }).click()
      await ada.page.getByRole('button', { name: 'Publish' }).click()
      // No user is signed in there.
      await bob.page.getByText('A first post, by ada').waitFor()
      await join(bob.page, 'bob')
      await say(ada.page, 'From the first window')
      await bob.page.getByText('ada: From the first window').waitFor()
      await say(bob.page, 'From the second')
      await ada.page.getByText('bob: From the second').waitFor()

      await bob.context.setOffline(true)
      await bob.page.evaluate(`dispatchEvent(new Event('offline'))`)
      await say(ada.page, 'While you were away')
      await ada.page.getByText('ada: While you were away').waitFor()
      await bob.context.setOffline(false)
      await bob.page.getByText('ada: While you were away').waitFor()

      await bob.page.getByRole('button', { name: 'Sign out' }).click()
      await bob.page.getByText('Nobody is signed in.').waitFor()
      await say(ada.page, 'To whom it may concern')
      await bob.page.getByText('ada: To whom it may concern').waitFor()
      await ada.shoot('live-first-window')
      await ada.checkAccess()
      expect([ada.errors, bob.errors]).toEqual([[], []])
    })
  },
)
