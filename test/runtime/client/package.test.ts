import { execFile, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { runInNewContext } from 'node:vm'
import { gzipSync } from 'node:zlib'
import { rolldown } from 'rolldown'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startAuthServer, type AuthServer } from '../../support/auth.ts'

const root = new URL('../../..', import.meta.url).pathname

/** The output of `npm run build`, as a browser application gets it. */
async function bundle(format: 'esm' | 'iife'): Promise<string> {
  const build = await rolldown({ input: join(root, 'runtime/client/dist/client.js'), platform: 'browser' })
  const { output } = await build.generate({ format, minify: true, name: 'catalograph' })
  expect(output).toHaveLength(1)
  return output[0].code
}

/** A folder of an application that has installed the package. */
let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'client-application-'))
  mkdirSync(join(folder, 'node_modules/@catalograph'), { recursive: true })
  symlinkSync(join(root, 'runtime/client'), join(folder, 'node_modules/@catalograph/client'))
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  return () => rmSync(folder, { recursive: true })
})

describe('the client library as a package', () => {
  it('is under 14 kB, minified and compressed, and has no dependency', async () => {
    const code = await bundle('esm')
    expect(code).not.toMatch(/\bimport\b|\brequire\b/)
    expect(gzipSync(code, { level: 9 }).length).toBeLessThan(14_000)
  })

  it('runs where there is nothing but the platform of the web', async () => {
    const { URL, URLSearchParams, AbortSignal, TextEncoder, TextDecoder, Request, Response } = globalThis
    const { atob, btoa, crypto, setTimeout, clearTimeout, setInterval, clearInterval } = globalThis
    const web = { URL, URLSearchParams, AbortSignal, TextEncoder, TextDecoder, Request, atob, btoa, crypto }
    const timers = { setTimeout, clearTimeout, setInterval, clearInterval }
    const answer = { code: 'invalid_credentials', message: 'Invalid login credentials' }
    const fetch = async (): Promise<Response> => new Response(JSON.stringify(answer), { status: 400 })
    const script = `${await bundle('iife')};
      const client = catalograph.createClient('https://project.example.com', 'key')
      client.auth.signInWithPassword({ email: 'a@example.com', password: 'x' })`
    expect(await runInNewContext(script, { ...web, ...timers, fetch })).toMatchObject({
      data: { user: null, session: null },
      error: { code: 'invalid_credentials', status: 400, message: 'Invalid login credentials' },
    })
  })
})

describe('the example of its page', () => {
  let server: AuthServer
  beforeAll(async () => {
    const sql = `
      create table public.post (id int primary key, title text);
      insert into public.post values (1, 'Hello');
      grant select on public.post to anon`
    server = await startAuthServer({ sql })
  })
  afterAll(() => server?.stop())

  it('runs, word for word', async () => {
    const [, text = ''] =
      /# Client library[^]*?```js\n([^]*?)```/.exec(readFileSync(join(root, 'docs/client.md'), 'utf8')) ?? []
    writeFileSync(join(folder, 'example.js'), text.replace('http://127.0.0.1:54321', server.url))
    const environment = { env: { ...process.env, ANON_KEY: server.anon }, cwd: folder }
    const { stdout } = await promisify(execFile)(process.execPath, ['example.js'], environment)
    expect(stdout.split('\n')).toEqual([
      'INITIAL_SESSION undefined',
      expect.stringContaining('A code was mailed'),
      '{"postCollection":{"edges":[{"node":{"title":"Hello"}}]}}',
      '',
    ])
  })
})

describe('its declarations', () => {
  it.each(['nodenext', 'esnext'])('say what an application needs, without the types of Node (%s)', (module) => {
    const options = ['--noEmit', '--strict', '--exactOptionalPropertyTypes', '--target', 'es2022', '--types', '']
    writeFileSync(join(folder, 'application.ts'), readFileSync(new URL('types.txt', import.meta.url)))
    const resolution = module === 'esnext' ? ['--moduleResolution', 'bundler'] : []
    const all = [...options, '--lib', 'ES2023,DOM', '--module', module, ...resolution, 'application.ts']
    const { stdout } = spawnSync(join(root, 'node_modules/.bin/tsc'), all, { cwd: folder, encoding: 'utf8' })
    expect(stdout).toBe('')
  })
})
