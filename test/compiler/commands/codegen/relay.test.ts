import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildSchema, parse, validate } from 'graphql'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { schemaCommand } from '../../../../compiler/commands/schema.ts'
import { runCommand } from '../../../support/command.ts'

const root = new URL('../../../..', import.meta.url).pathname
/** In the package of documents.test.ts: `npm run test:documents` installs it. */
const relay = fileURLToPath(new URL('project/node_modules/relay-compiler/cli.js', import.meta.url))

const source = `
  import { graphql } from 'relay-runtime'
  export const posts = graphql\`
    fragment List_posts on Query
    @argumentDefinitions(count: { type: "Int", defaultValue: 10 }, cursor: { type: "Cursor" })
    @refetchable(queryName: "ListPaginationQuery") {
      postCollection(first: $count, after: $cursor) @connection(key: "List_postCollection") {
        edges { node { title author { ...List_author } } }
      }
    }\`
  export const author = graphql\`
    fragment List_author on User @refetchable(queryName: "ListAuthorQuery") { username }\`
  export const page = graphql\`query ListQuery { ...List_posts }\`
`

describe.skipIf(!existsSync(relay))('relay-compiler', { timeout: 120_000 }, () => {
  let folder: string
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'relay-'))
    mkdirSync(join(folder, 'src'))
    writeFileSync(join(folder, 'src/List.js'), source)
    const args = [
      'schema',
      '--from',
      join(root, 'generated'),
      '--role',
      'anon',
      '--out',
      join(folder, 'schema.graphql'),
    ]
    expect(await runCommand([schemaCommand], args)).toMatchObject({ exitCode: 0 })
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  const compile = (settings: object): number | null => {
    const config = { src: './src', language: 'javascript', schema: './schema.graphql', ...settings }
    writeFileSync(join(folder, 'relay.config.json'), JSON.stringify(config))
    return spawnSync(process.execPath, [relay, 'relay.config.json'], { cwd: folder }).status
  }

  it('takes the schema with the settings of the page, and pages and refetches by node id', () => {
    const [, settings = ''] =
      /`("schemaConfig": \{[^`]*\})`/.exec(readFileSync(join(root, 'docs/client.md'), 'utf8')) ?? []
    expect(compile(JSON.parse(`{${settings}}`) as object)).toBe(0)
    const made = join(folder, 'src/__generated__')
    const schema = buildSchema(readFileSync(join(folder, 'schema.graphql'), 'utf8'))
    const queries = readdirSync(made).flatMap((file) => {
      const [, text] = /"text": ("query .*")/.exec(readFileSync(join(made, file), 'utf8')) ?? []
      return text === undefined ? [] : [JSON.parse(text) as string]
    })
    expect(queries).toHaveLength(3)
    expect(queries.join()).toContain('node(nodeId: $nodeId)')
    for (const query of queries) expect(validate(schema, parse(query))).toEqual([])
  })

  it('does not take it without them', () => {
    expect(compile({})).not.toBe(0)
  })
})
