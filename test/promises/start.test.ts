import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { authCommand } from '../../compiler/commands/auth.ts'
import { mailsCommand } from '../../compiler/commands/mails.ts'
import { runArguments } from '../../compiler/commands/run.ts'
import { startCommand } from '../../compiler/commands/start.ts'
import { tokenCommand } from '../../compiler/commands/token.ts'
import { freePort } from '../../runtime/db/embedded/free-port.ts'
import { findChromium, noChromium, useBrowser } from '../support/chromium.ts'
import { runCommand } from '../support/command.ts'
import { titled } from '../support/programs.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'catalograph-start-'))
  await chmod(folder, 0o755)
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** Runs `catalograph start` until its welcome is printed, hands that to `look`, and stops it. */
const visit = async (
  settings: Readonly<Record<string, string>>,
  look: (welcome: string) => Promise<void>,
): Promise<void> => {
  let stop: (reason: string) => void = () => undefined
  const stopRequested = new Promise<string>((resolve) => {
    stop = resolve
  })
  const noted: string[] = []
  let whole: Promise<number> = Promise.resolve(0)
  const welcome = new Promise<string>((resolve, reject) => {
    whole = runArguments([startCommand], ['start'], {
      environment: { CATALOGRAPH_DATA: folder, PORT: '0', LOG_LEVEL: 'warn', ...settings },
      print: resolve,
      note: (line) => noted.push(line),
      stage: () => undefined,
      human: true,
      stopRequested: () => stopRequested,
    })
    void whole.then(() => reject(new Error(`it ended: ${noted.join('\n')}`)))
  })
  try {
    await look(await welcome)
  } finally {
    stop('the test')
  }
  expect(await whole).toBe(0)
}

/** The output of a command whose owner has set only the data folder. */
const ownerRuns = async (...args: readonly string[]): Promise<string> => {
  const environment = { CATALOGRAPH_DATA: folder }
  const { exitCode, printed } = await runCommand([authCommand, mailsCommand, tokenCommand], args, { environment })
  expect(exitCode).toBe(0)
  return printed
}

/** Sends what the printed curl line would send. */
const runPrintedLine = async (welcome: string): Promise<unknown> => {
  const parts = /curl -s (\S+) -H '(content-type): ([^']+)' -H '(apikey): ([^']+)' \\\n +-d '([^']+)'/.exec(welcome)
  const [, url = '', type = '', media = '', key = '', apikey = '', body = ''] = parts ?? []
  return (await fetch(url, { method: 'POST', headers: { [type]: media, [key]: apikey }, body })).json()
}

const urlIn = (welcome: string): string => /Auth +(\S+)\/auth\/v1/.exec(welcome)?.[1] ?? ''
const anonIn = (welcome: string): string => /anon +(\S+)/.exec(welcome)?.[1] ?? ''

/** The id of the user whom auth knows by a token. */
const userOf = async (welcome: string, token: string): Promise<unknown> => {
  const headers = { apikey: anonIn(welcome), authorization: `Bearer ${token}` }
  return ((await (await fetch(`${urlIn(welcome)}/auth/v1/user`, { headers })).json()) as { readonly id?: string }).id
}

/** Signs in with each printed account. */
const signIn = (welcome: string): Promise<readonly unknown[]> =>
  Promise.all(
    [...welcome.matchAll(/account +(\S+), password (\S+)/g)].map(async ([, email, password]) => {
      const headers = { apikey: anonIn(welcome), 'content-type': 'application/json' }
      const url = `${urlIn(welcome)}/auth/v1/token?grant_type=password`
      const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ email, password }) })
      return userOf(welcome, ((await answer.json()) as { readonly access_token: string }).access_token)
    }),
  )

const spendOpening = (welcome: string): Promise<Response> => {
  const authorization = `Bearer ${/#opening=(\S+)/.exec(welcome)?.[1]}`
  return fetch(`${urlIn(welcome)}/dashboard/opening`, { method: 'POST', headers: { authorization } })
}

/** Asks auth, where the welcome says that it is, what a sign-in page may offer. */
const askAuth = async (welcome: string): Promise<unknown> => {
  return (await fetch(`${urlIn(welcome)}/auth/v1/settings`, { headers: { apikey: anonIn(welcome) } })).json()
}

describe('catalograph start', () => {
  const promise = 'needs nothing, answers the printed line with data, has auth on, and finds its data and keys again'
  it(promise, { timeout: 120_000 }, async () => {
    const keys: (string | undefined)[] = []
    const port = String(await freePort())
    for (const settings of [{}, { EMBEDDED_PORT: port }]) {
      await visit(settings, async (welcome) => {
        expect(welcome).toMatch(/postgres:\/\/postgres:[\w-]+@127\.0\.0\.1:\d+\/postgres/)
        if ('EMBEDDED_PORT' in settings) expect(welcome).toContain(`@127.0.0.1:${port}/postgres`)
        keys.push(anonIn(welcome))
        expect(await runPrintedLine(welcome)).toMatchObject({
          data: { postCollection: { edges: [{ node: { title: expect.any(String) } }, {}, {}] } },
        })
        expect(await askAuth(welcome)).toMatchObject({ external: { email: true, anonymous_users: false } })
        expect(await ownerRuns('auth', 'status')).toMatch(/^Auth is enabled\nsite_url = http:\/\/localhost:3000\n/)
        // A user who tries auth out requests several mails in a row.
        expect(await ownerRuns('auth', 'get', 'mail_cooldown')).toBe('mail_cooldown = 1')
        expect(await ownerRuns('mails')).toBe('')
        const [ada, bruno] = ['1', '2'].map((number) => `00000000-0000-4000-8000-00000000000${number}`)
        expect(await signIn(welcome)).toEqual([ada, bruno])
        expect(await userOf(welcome, await ownerRuns('token', '--user', 'Ada.Okafor@example.com'))).toBe(ada)
        const wrong = welcome.replace('#opening=', '#opening=x')
        expect((await spendOpening(wrong)).status).toBe(404)
        expect(await (await spendOpening(welcome)).json()).toEqual({ key: /service_role +(\S+)/.exec(welcome)?.[1] })
        expect((await spendOpening(welcome)).status).toBe(404)
      })
    }
    expect(keys[0]).toMatch(/^eyJ/)
    expect(keys[1]).toBe(keys[0])
  })

  it('says that its port is in use before it makes anything', async () => {
    const taken = createServer().listen(0, '127.0.0.1')
    await once(taken, 'listening')
    onTestFinished(() => void taken.close())
    const empty = join(folder, 'never')
    const PORT = String((taken.address() as AddressInfo).port)
    const { exitCode, noted } = await runCommand([startCommand], ['start'], {
      environment: { CATALOGRAPH_DATA: empty, PORT },
    })
    expect([exitCode, noted]).toEqual([1, `catalograph: port ${PORT} on 127.0.0.1 is in use; set PORT to another one`])
    expect(existsSync(empty)).toBe(false)
  })
})

const chromium = findChromium()

describe.skipIf(chromium === null)(titled('the printed link', noChromium()), () => {
  const browser = useBrowser(chromium ?? '')

  it('opens the dashboard signed in, and leaves no code in the address', { timeout: 120_000 }, async () => {
    await visit({}, async (welcome) => {
      const { page, context, errors } = await browser.open()
      await page.goto(/Dashboard +(\S+)/.exec(welcome)?.[1] ?? '')
      await page.getByRole('navigation', { name: 'Panels' }).waitFor()
      expect(page.url()).not.toContain('opening')
      await page.reload()
      await page.getByRole('navigation', { name: 'Panels' }).waitFor()
      expect(errors).toEqual([])
      await context.close()
    })
  })
})
