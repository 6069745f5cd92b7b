import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { packageFolder } from '../../runtime/lib/package.ts'
import { projectKeys } from '../../runtime/identity/project-keys.ts'
import { secret } from '../support/auth.ts'
import { createDatabase, type TestDatabase } from '../support/database.ts'
import { addPackage, emptyProject, manifestOf, pack, runIn, unpack, type Tarball } from '../support/packed.ts'

/** The tarballs of the packages from `npm pack`, in an empty project. */

let folder: string
let database: TestDatabase
let product: Tarball
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'packages-'))
  product = await pack('.', folder)
  const sql = 'create table note (id int primary key); grant select on note to anon'
  database = await createDatabase({ prepare: true, sql })
})
afterAll(async () => {
  rmSync(folder, { recursive: true })
  await database.drop()
})

test('npm run pack prints the lines that install both packages', { timeout: 60_000 }, async () => {
  const printed = await runIn(folder, process.execPath, join(packageFolder(), 'compiler/pack.mjs'), folder)
  const lines = printed.trim().split('\n')
  expect(lines.map((line) => line.replace(/[\d.]+\.tgz$/, 'VERSION.tgz'))).toEqual([
    `npm install ${join(folder, 'catalograph-VERSION.tgz')}`,
    `npm install ${join(folder, 'catalograph-client-VERSION.tgz')}`,
  ])
  const [program = '', ...args] = `${lines[1]} --offline --no-audit --no-fund`.split(' ')
  const project = emptyProject(folder, 'packed')
  await runIn(project, program, ...args)
  expect(readdirSync(join(project, 'node_modules/@catalograph'))).toEqual(['client'])
})

test('@catalograph/client is one package, with its declarations', { timeout: 60_000 }, async () => {
  const tarball = await pack('runtime/client', folder)
  const stray = tarball.files.filter(
    ({ path }) => !/^(?:dist\/.*\.(?:js|d\.ts)|package\.json|README\.md|LICENSE)$/.test(path),
  )
  expect(stray).toEqual([])
  const project = emptyProject(folder, 'client')
  const args = ['install', '--offline', '--no-audit', '--no-fund', join(folder, tarball.filename)]
  await runIn(project, 'npm', ...args)
  expect(readdirSync(join(project, 'node_modules')).filter((name) => !name.startsWith('.'))).toEqual(['@catalograph'])
  writeFileSync(
    join(project, 'use.js'),
    `import { createClient } from '@catalograph/client'
     import * as sdk from '@catalograph/client/sdk'
     console.log(typeof createClient('http://127.0.0.1:1', 'key').graphql, Object.keys(sdk).length > 0)`,
  )
  expect((await runIn(project, process.execPath, 'use.js')).trim()).toBe('function true')
})

test('catalograph serves from its package, without what serving does not use', { timeout: 60_000 }, async () => {
  const stray = product.files.filter(({ path }) =>
    /^(?:test|bench|compiler|runtime|docs|generated)\/|\.tsx?$/.test(
      // Files of created applications are sources.
      path.replace(/\.d\.ts$|^compiler\/commands\/create\/templates\/.*/, ''),
    ),
  )
  expect(stray).toEqual([])
  expect(product.files.filter(({ path }) => /interpreter|reference/.test(path))).toEqual([])
  const project = await unpack(product, folder)
  const cli = join(project, 'node_modules/catalograph/dist/compiler/cli.js')
  expect(await runIn(project, process.execPath, cli, 'help')).toContain('codegen')
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
  const answer = await runIn(project, process.execPath, 'use.js', database.url, secret, anon)
  expect(JSON.parse(answer.trim().split('\n').at(-1) ?? '')).toEqual({ data: { noteCollection: { edges: [] } } })
})

test('@catalograph/reference brings the command verify, which says so without it', { timeout: 60_000 }, async () => {
  const project = await unpack(product, folder, 'verified')
  const installed = (name: string): string => join(project, 'node_modules', name)
  const cli = join(installed('catalograph'), 'dist/compiler/cli.js')
  const verify = (...args: readonly string[]): Promise<string> =>
    runIn(project, 'env', '-i', `DATABASE_URL=${database.url}`, process.execPath, cli, 'verify', ...args)
  const lacking = 'verify is in a package of its own: npm install --save-dev @catalograph/reference'
  await expect(verify('--minutes', '1')).rejects.toMatchObject({ code: 2, stderr: expect.stringContaining(lacking) })
  expect(await verify('--help')).toContain(lacking)

  const tarball = await pack('test/reference', folder)
  const stray = tarball.files.filter(({ path }) => !/^(?:dist\/.*\.js|package\.json|README\.md|LICENSE)$/.test(path))
  expect(stray).toEqual([])
  await addPackage(project, '@catalograph/reference', tarball, folder)
  const { version } = manifestOf(installed('catalograph'))
  expect(manifestOf(installed('@catalograph/reference'))).toMatchObject({
    version,
    peerDependencies: { catalograph: version },
  })
  expect(await verify('--role', 'anon', '--minutes', '0.02')).toContain('no difference')
})
