import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { authCommand } from '../../compiler/commands/auth.ts'
import { mailsCommand } from '../../compiler/commands/mails.ts'
import { runArguments } from '../../compiler/commands/run.ts'
import { startCommand } from '../../compiler/commands/start.ts'
import { freePort } from '../../runtime/db/embedded/free-port.ts'
import { runCommand } from '../support/command.ts'

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

/** What a command of the owner prints who has no setting but the data folder. */
const ownerRuns = async (...args: readonly string[]): Promise<string> => {
  const environment = { CATALOGRAPH_DATA: folder }
  const { exitCode, printed } = await runCommand([authCommand, mailsCommand], args, { environment })
  expect(exitCode).toBe(0)
  return printed
}

/** Sends what the printed curl line would send. */
const runPrintedLine = async (welcome: string): Promise<unknown> => {
  const parts = /curl -s (\S+) -H '(content-type): ([^']+)' -H '(apikey): ([^']+)' \\\n +-d '([^']+)'/.exec(welcome)
  const [, url = '', type = '', media = '', key = '', apikey = '', body = ''] = parts ?? []
  return (await fetch(url, { method: 'POST', headers: { [type]: media, [key]: apikey }, body })).json()
}

/** Asks auth, where the welcome says that it is, what a sign-in page may offer. */
const askAuth = async (welcome: string): Promise<unknown> => {
  const [, url = ''] = /Auth +(\S+)/.exec(welcome) ?? []
  const [, apikey = ''] = /anon +(\S+)/.exec(welcome) ?? []
  return (await fetch(`${url}/settings`, { headers: { apikey } })).json()
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
        keys.push(/anon +(\S+)/.exec(welcome)?.[1])
        expect(await runPrintedLine(welcome)).toMatchObject({
          data: { postCollection: { edges: [{ node: { title: expect.any(String) } }, {}, {}] } },
        })
        expect(await askAuth(welcome)).toMatchObject({ external: { email: true, anonymous_users: false } })
        expect(await ownerRuns('auth', 'status')).toMatch(/^Auth is enabled\nsite_url = http:\/\/localhost:3000\n/)
        // Who tries auth out asks for several mails in a row.
        expect(await ownerRuns('auth', 'get', 'mail_cooldown')).toBe('mail_cooldown = 1')
        expect(await ownerRuns('mails')).toBe('')
      })
    }
    expect(keys[0]).toMatch(/^eyJ/)
    expect(keys[1]).toBe(keys[0])
  })
})
