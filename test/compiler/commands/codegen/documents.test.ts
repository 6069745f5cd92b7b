import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { buildSchema } from 'graphql'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { givenDocuments } from '../../../../compiler/commands/given-documents.ts'
import { clientFiles } from '../../../../compiler/commands/codegen/client.ts'
import { sha256Hex } from '../../../../runtime/lib/text.ts'
import { createApplication, type Application } from '../../../support/generated-client.ts'

const root = new URL('../../../..', import.meta.url).pathname
/** A package of its own, so that the product's install stays light: `npm run test:documents` installs it. */
const packages = fileURLToPath(new URL('project/node_modules', import.meta.url))

interface Ran {
  readonly exitCode: number
  readonly stderr: string
}

const run = (folder: string, args: readonly string[]): Promise<Ran> =>
  new Promise((resolve) => {
    const cli = [join(root, 'dist/compiler/cli.js'), 'codegen', '--from', join(root, 'generated'), '--role', 'anon']
    execFile(process.execPath, [...cli, '--out', 'db', ...args], { cwd: folder, env: {} }, (error, _stdout, stderr) =>
      resolve({ exitCode: Number(error?.code ?? 0), stderr }),
    )
  })

let app: Application
beforeAll(() => {
  app = createApplication()
})
afterAll(() => app?.remove())

it('--documents says what it needs', async () => {
  const { exitCode, stderr } = await run(app.folder, ['--documents', 'src/*.graphql'])
  expect([exitCode, stderr]).toEqual([1, expect.stringContaining('npm install --save-dev @graphql-codegen/cli')])
  expect(existsSync(join(app.folder, 'db'))).toBe(false)
})

describe.skipIf(!existsSync(packages))('typed documents', { timeout: 120_000 }, () => {
  const documents = ['--documents', 'src/**/*.{graphql,ts}']

  beforeAll(() => {
    mkdirSync(join(app.folder, 'src'))
    for (const name of ['@graphql-codegen', '@graphql-typed-document-node', 'graphql'])
      symlinkSync(join(packages, name), join(app.folder, 'node_modules', name))
  })

  it('are made of files and of tagged templates, and go through the client', async () => {
    app.write(
      'src/titles.graphql',
      'query Titles($first: Int!) { postCollection(first: $first) { edges { node { title } } } }',
    )
    app.write(
      'src/use.ts',
      `import { createClient } from '@catalograph/client'
       import { graphql } from '../db/documents/gql.js'
       import { TitlesDocument } from '../db/documents/graphql.js'
       const client = createClient('https://project.example.com', 'key')
       const titles = await client.graphql(TitlesDocument, { first: 3 })
       export const title: string | undefined = titles.data?.postCollection.edges[0]?.node.title
       const counted = await client.graphql(graphql(\`query Counts { postCollection { totalCount } }\`))
       export const count: number | undefined = counted.data?.postCollection.totalCount
       // @ts-expect-error it was not selected
       titles.data?.postCollection.edges[0]?.node.body
       // @ts-expect-error a variable is needed
       void client.graphql(TitlesDocument)
       // @ts-expect-error a variable of another type
       void client.graphql(TitlesDocument, { first: 'three' })`,
    )
    expect(await run(app.folder, documents)).toEqual({ exitCode: 0, stderr: expect.any(String) })
    expect(app.typeCheck(['src/use.ts'])).toBe('')
    expect((await run(app.folder, [...documents, '--check'])).exitCode).toBe(0)
    app.write('src/titles.graphql', 'query Titles($first: Int!) { postCollection(first: $first) { edges { cursor } } }')
    expect((await run(app.folder, [...documents, '--check'])).exitCode).toBe(1)
  })

  it('have hashes of the texts that are sent, with --hashes, under which compile finds them', async () => {
    app.write('src/key.graphql', 'query Key { postByPk(id: 1) { ...Key } } fragment Key on Post { id title }')
    expect(await run(app.folder, [...documents, '--hashes'])).toEqual({ exitCode: 0, stderr: expect.any(String) })
    expect((await run(app.folder, [...documents, '--hashes', '--check'])).exitCode).toBe(0)
    const path = join(app.folder, 'db/documents/persisted-documents.json')
    const made = readFileSync(join(app.folder, 'db/documents/graphql.ts'), 'utf8')
    const [, text = '', hash] = /KeyDocument = new TypedDocumentString\('(.*)', \{"hash":"(.*)"\}\)/.exec(made) ?? []
    expect(hash).toBe(sha256Hex(text))
    const found = (await givenDocuments(path)).map((one) => [one.source, one.text])
    expect(found).toContainEqual([`${path}#Key`, text])
    writeFileSync(path, readFileSync(path, 'utf8').replace('postByPk', 'postByPK'))
    await expect(givenDocuments(path)).rejects.toThrow(`is no text with this SHA-256`)
    expect((await run(app.folder, ['--hashes'])).exitCode).toBe(2)
  })

  it('are refused with what is wrong with them, and nothing is written', async () => {
    const before = readFileSync(join(app.folder, 'db/documents/graphql.ts'), 'utf8')
    app.write('src/wrong.graphql', 'query Wrong { postCollection { edges { node { titel } } } }')
    const { exitCode, stderr } = await run(app.folder, documents)
    expect([exitCode, stderr]).toEqual([
      1,
      expect.stringMatching(/Cannot query field "titel"[^]*src\/wrong.graphql:1:\d+/),
    ])
    expect(readFileSync(join(app.folder, 'db/documents/graphql.ts'), 'utf8')).toBe(before)
    expect((await run(app.folder, ['--documents', 'nowhere/*.graphql'])).exitCode).toBe(1)
  })

  it('stand beside the client that the preset prints alone, and that a configuration of the project gets', async () => {
    const schema = join(app.folder, 'schema.graphql')
    const printing = ['schema', '--from', join(root, 'generated'), '--role', 'anon', '--out', schema]
    await promisify(execFile)(process.execPath, [join(root, 'dist/compiler/cli.js'), ...printing], { env: {} })
    app.write(
      'codegen.ts',
      `import type { CodegenConfig } from '@graphql-codegen/cli'
       import { preset } from ${JSON.stringify(join(root, 'dist/compiler/commands/codegen/preset.js'))}
       const config: CodegenConfig = {
         schema: ${JSON.stringify(schema)}, config: { sort: false },
         generates: { 'own/': { preset, presetConfig: { scalars: {} } } },
       }
       export default config`,
    )
    expect(app.typeCheck(['codegen.ts'], ['--skipLibCheck'])).toBe('')
    const command = [join(packages, '@graphql-codegen/cli/cjs/bin.js'), '--config', 'codegen.ts']
    await promisify(execFile)(process.execPath, command, { cwd: app.folder })
    for (const [path, text] of Object.entries(clientFiles(buildSchema(readFileSync(schema, 'utf8')), {}))) {
      expect(readFileSync(join(app.folder, 'own', path), 'utf8')).toBe(text)
      expect(readFileSync(join(app.folder, 'db', path), 'utf8').replace(/.*\n/, '')).toBe(text)
    }
  })

  it('go when they are no longer asked for', async () => {
    expect((await run(app.folder, [])).exitCode).toBe(0)
    expect(readdirSync(join(app.folder, 'db/documents'))).toEqual([])
  })
})
