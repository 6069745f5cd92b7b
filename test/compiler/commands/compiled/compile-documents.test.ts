import { mkdtemp, readFile, readdir, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { compileCommand } from '../../../../compiler/commands/compile.ts'
import { packageVersion } from '../../../../runtime/lib/package.ts'
import { printedFile, sealPrinted } from '../../../../compiler/emit/artifacts.ts'
import { earlierIn } from '../../../../compiler/commands/compiled/compile-documents.ts'
import type { CompiledText, DocumentsIndex } from '../../../../runtime/graphql/compiled/format.ts'
import type { Value } from '../../../../runtime/graphql/plan/values.ts'
import { bind } from '../../../../runtime/graphql/run/bind.ts'
import { toResponse } from '../../../../runtime/graphql/run/response.ts'
import type { Outline } from '../../../../runtime/graphql/statements/statements.ts'
import { sha256Hex } from '../../../../runtime/lib/text.ts'
import { runCommand } from '../../../support/command.ts'
import { createDatabase } from '../../../support/database.ts'
import { forSuite } from '../../../support/for-suite.ts'

let folder: string
const db = forSuite(createDatabase, {
  sql: `
      create table notes (id int primary key, body text, secret text);
      insert into notes select n, case n when 7 then 'seven' end from generate_series(7, 12) n;
      grant select (id, body) on notes to anon, service_role;
      grant select, insert on notes to authenticated;
      create schema private;
      create table private.documents (hash text, document text);
      comment on schema public is '@graphql({"allowlist": {"table": "private.documents"}})';
      grant usage on schema private to public;
      grant select on private.documents to public`,
})
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'catalograph-documents-'))
  await writeFile(join(folder, 'one.graphql'), one)
  await writeFile(join(folder, 'page.graphql'), page)
  await writeFile(join(folder, 'page.variables.json'), JSON.stringify([{ n: 3 }, { n: 4, filter: { id: { gt: 7 } } }]))
})

const one = 'query One($id: Int!) { notesByPk(id: $id) { body } }\n'
const page =
  'query Page($n: Int, $filter: notesFilter) { notesCollection(first: $n, filter: $filter) { edges { node { id } } } }\n'

const compile = (documents: string, out: string, ...more: readonly string[]) =>
  runCommand([compileCommand], ['compile', '--documents', join(folder, documents), '--out', out, ...more], {
    environment: { DATABASE_URL: db.url },
  })
const fresh = (): Promise<string> => mkdtemp(join(tmpdir(), 'catalograph-documents-out-'))

interface Index {
  readonly revision: string
  readonly roles: Readonly<Record<string, Readonly<Record<string, string>>>>
}
interface Shape extends Outline {
  readonly variables: unknown
  readonly statements: readonly { readonly text: CompiledText; readonly values: readonly Value[] }[]
}
interface DocumentFile {
  readonly document: string
  readonly operations: readonly { readonly name: string; readonly shapes: Readonly<Record<string, Shape>> }[]
}

async function read(out: string): Promise<{ index: Index; at: (address: string) => Promise<DocumentFile> }> {
  const { revision } = JSON.parse(await readFile(join(out, 'current.json'), 'utf8')) as Index
  const json = async (path: string): Promise<unknown> => JSON.parse(await readFile(join(out, revision, path), 'utf8'))
  return {
    index: (await json('documents/index.json')) as Index,
    at: async (address) => (await json(`documents/${address}.json`)) as DocumentFile,
  }
}

const whole = (text: CompiledText, size: string): string =>
  [text]
    .flat()
    .map((part) => (typeof part === 'string' ? part : size))
    .join('')

describe('compile --documents', () => {
  it('writes what each document runs, once for roles for which it is the same', async () => {
    const out = await fresh()
    expect(await compile('*.graphql', out, '--roles', 'anon,authenticated,service_role')).toMatchObject({ exitCode: 0 })
    const { index, at } = await read(out)
    const { anon = {}, authenticated = {}, service_role: like } = index.roles
    expect(like).toEqual(anon)
    expect(Object.keys(anon).toSorted()).toEqual([sha256Hex(one), sha256Hex(page)].toSorted())
    const address = anon[sha256Hex(one)] ?? ''
    expect(authenticated[sha256Hex(one)]).toBe(address)
    expect(sha256Hex(await readFile(join(out, index.revision, `documents/${address}.json`), 'utf8'))).toMatch(
      new RegExp(`^${address}`),
    )
    const { document, operations } = await at(address)
    expect(document).toBe(one)
    expect(operations).toMatchObject([
      {
        name: 'One',
        kind: 'query',
        variables: [{ name: 'id', type: 'Int!' }],
        shapes: {
          'v;': {
            statements: [{ values: [{ slot: { kind: 'variable', path: ['id'] }, encoding: { kind: 'scalar' } }] }],
            pieces: [{ kind: 'column', statement: 0, column: 0 }],
          },
        },
      },
    ])
  })

  it('writes the SQL for people, which names the roles that run it', async () => {
    const out = await fresh()
    await compile('one.graphql', out, '--roles', 'anon,authenticated')
    const { index } = await read(out)
    const names = (await readdir(join(out, index.revision, 'documents'))).filter((name) => name.endsWith('.sql'))
    expect(names).toEqual(['one.anon.sql'])
    const path = join(out, index.revision, 'documents/one.anon.sql')
    expect(await readFile(path, 'utf8')).toBe(
      `-- one.graphql for anon, authenticated

-- query One
-- $1 = $id
select to_json((select (o.*)::record from (select t1."body" as "body" from "public"."notes" t1 where (t1."id" = $1::integer)) o)) as r1;
`,
    )
    await compile('page.graphql', out)
    const page = await readFile(join(out, index.revision, 'documents/page.anon.sql'), 'utf8')
    expect(page).toContain(
      '-- query Page with variables such as {"n":4,"filter":{"id":{"gt":7}}}\n-- $1 = $filter.id.gt\n',
    )
    expect(page).toContain('limit least($n, 30)')
    expect(page).not.toContain('one')
    expect(await readdir(join(out, index.revision, 'documents'))).not.toContain('one.anon.sql')
  })

  it('has the shapes of the examples beside a document', async () => {
    const out = await fresh()
    await compile('page.graphql', out)
    const { index, at } = await read(out)
    const { operations } = await at(index.roles['anon']?.[sha256Hex(page)] ?? '')
    const examples = Object.values(operations[0]?.shapes ?? {}).map(({ variables }) => variables)
    expect(examples).toEqual(expect.arrayContaining([{ n: 3 }, { n: 4, filter: { id: { gt: 7 } } }, {}]))
  })

  it('has holes for page sizes, which one example is enough for', async () => {
    const out = await fresh()
    await compile('page.graphql', out)
    const { index, at } = await read(out)
    const { operations } = await at(index.roles['anon']?.[sha256Hex(page)] ?? '')
    expect(Object.keys(operations[0]?.shapes ?? {})).toEqual([
      '-;-;',
      '-;{id:{gt:v}};',
      '-;{};',
      '-v;-;',
      '-v;{id:{gt:v}};',
      '-v;{};',
      '0;-;',
      '0;{id:{gt:v}};',
      '0;{};',
      'v;-;',
      'v;{id:{gt:v}};',
      'v;{};',
    ])
    const [statement] = operations[0]?.shapes['v;-;']?.statements ?? []
    expect(statement?.text).toEqual([
      expect.stringMatching(/ order by .* limit $/),
      { variable: 'n', most: 30, plus: 0 },
      expect.stringMatching(/^\)/),
    ])
  })

  it('has all that an answer is made of', async () => {
    const out = await fresh()
    await compile('*.graphql', out)
    const { index, at } = await read(out)
    const ask = async (text: string, variables: Readonly<Record<string, unknown>>, form: string): Promise<unknown> => {
      const { operations } = await at(index.roles['anon']?.[sha256Hex(text)] ?? '')
      const shape = operations[0]?.shapes[form]
      if (shape === undefined) throw new Error(`there is no shape ${form}`)
      const rows = await Promise.all(
        shape.statements.map(async (statement) => {
          const bound = bind({ ...statement, text: whole(statement.text, '4'), name: '' }, variables)
          const { rows: found } = await db.query(bound.text, [...bound.values])
          return Object.values((found[0] ?? {}) as object).map((cell) => JSON.stringify(cell))
        }),
      )
      return JSON.parse(String(toResponse(shape, rows).body))
    }
    expect(await ask(one, { id: 7 }, 'v;')).toEqual({ data: { notesByPk: { body: 'seven' } } })
    const edges = [{ node: { id: 8 } }, { node: { id: 9 } }, { node: { id: 10 } }]
    expect(await ask(page, { n: 4, filter: { id: { gt: 7 } } }, 'v;{id:{gt:v}};')).toEqual({
      data: { notesCollection: { edges: [...edges, { node: { id: 11 } }] } },
    })
    expect(await ask(page, { n: 4, filter: { id: { gt: 9 } } }, 'v;{id:{gt:v}};')).toEqual({
      data: { notesCollection: { edges: [{ node: { id: 10 } }, { node: { id: 11 } }, { node: { id: 12 } }] } },
    })
  })

  it('makes the same bytes again, and --check names a document that changed', async () => {
    const out = await fresh()
    await compile('*.graphql', out)
    expect(await compile('*.graphql', out, '--check')).toMatchObject({ exitCode: 0, printed: '' })
    const checked = await compile('one.graphql', out, '--check')
    expect(checked).toMatchObject({ exitCode: 1, printed: expect.stringContaining('documents/index.json (changed)') })
  })

  it('takes the SDL and the declarations that the same version printed of the schema, which --check prints again', async () => {
    const out = await fresh()
    await compile('*.graphql', out)
    const place = join(out, (await read(out)).index.revision)
    const path = join(place, 'schema.anon.graphql')
    const printed = await readFile(path, 'utf8')
    await writeFile(path, '# of somebody else\n')
    await compile('*.graphql', out)
    expect(await readFile(path, 'utf8')).toBe(printed)
    // As if that version had printed it.
    await writeFile(path, '# of that version\n')
    const names = (await readdir(place, { recursive: true })).filter((name) => /\.(graphql|d\.cts)$/.test(name))
    const texts = names.map(async (name) => [name, await readFile(join(place, name), 'utf8')] as const)
    const sealed = sealPrinted(Object.fromEntries(await Promise.all(texts)), await packageVersion())
    await writeFile(join(place, printedFile), sealed[printedFile] ?? '')
    await compile('*.graphql', out)
    expect(await readFile(path, 'utf8')).toBe('# of that version\n')
    const checked = await compile('*.graphql', out, '--check')
    expect(checked.printed).toContain('--- schema.anon.graphql (changed)')
  })

  it('compiles again what is not in the folder as it was compiled, and makes the same bytes', async () => {
    const [out, whole] = [await fresh(), await fresh()]
    const roles = ['--roles', 'anon,authenticated']
    const texts = async (from: string): Promise<Readonly<Record<string, string>>> => {
      const place = join(from, (await read(from)).index.revision, 'documents')
      const names = (await readdir(place)).toSorted()
      return Object.fromEntries(
        await Promise.all(names.map(async (name) => [name, await readFile(join(place, name), 'utf8')])),
      )
    }
    await compile('{one,page}.graphql', whole, ...roles)
    const wanted = await texts(whole)
    await compile('page.graphql', out, '--roles', 'anon')
    expect(await texts(out)).not.toEqual(wanted)
    // One is new, the other one is new for a role.
    await compile('{one,page}.graphql', out, ...roles)
    expect(await texts(out)).toEqual(wanted)
    const { revision, roles: addressed } = (await read(out)).index
    const places = ['index', addressed['anon']?.[sha256Hex(page)]].map((name) => `${revision}/documents/${name}.json`)
    for (const place of places) {
      const path = join(out, place)
      await writeFile(path, (await readFile(path, 'utf8')).replace('notes', 'tones'))
      expect(await compile('{one,page}.graphql', out, ...roles, '--check')).toMatchObject({ exitCode: 1 })
      await compile('{one,page}.graphql', out, ...roles)
      expect(await texts(out)).toEqual(wanted)
    }
    // Other examples of the same text.
    await writeFile(join(folder, 'more.json'), '{"Page": {"filter": {"body": {"eq": "x"}}}}')
    const more = ['--examples', join(folder, 'more.json')]
    await compile('{one,page}.graphql', out, ...roles, ...more)
    expect(await compile('{one,page}.graphql', out, ...roles, ...more, '--check')).toMatchObject({ exitCode: 0 })
    expect(await texts(out)).not.toEqual(wanted)
    await compile('{one,page}.graphql', out, ...roles)
    expect(await texts(out)).toEqual(wanted)
    const known = (version: string, role: string, mark = examples[sha256Hex(page)] ?? '') =>
      earlierIn(out, revision, version)(role, { text: page, mark })
    const { examples } = JSON.parse(wanted['index.json'] ?? '') as DocumentsIndex
    const version = await packageVersion()
    expect(known(version, 'anon')).toMatchObject({ address: addressed['anon']?.[sha256Hex(page)] })
    expect([known('other', 'anon'), known(version, 'service_role'), known(version, 'anon', 'other')]).toEqual(
      Array.from({ length: 3 }),
    )
  })

  it('reports what a role cannot ask, with its place, and writes nothing', async () => {
    const out = await fresh()
    await writeFile(join(folder, 'wrong.gql'), 'query Wrong {\n  notesCollection { edges { node { id secret } } }\n}\n')
    const failed = await compile('wrong.gql', out, '--roles', 'authenticated,anon,service_role')
    expect(failed.exitCode).toBe(1)
    for (const role of ['anon', 'service_role'])
      expect(failed.noted).toContain(
        `${join(folder, 'wrong.gql')}:2:39: ${role}: Cannot query field "secret" on type "notes".`,
      )
    expect(failed.noted).not.toContain('authenticated:')
    expect(await readdir(out)).toEqual([])
  })

  it('reports examples that do not fit, and refuses what it cannot use', async () => {
    const out = await fresh()
    await writeFile(join(folder, 'bad.gql'), one)
    await writeFile(join(folder, 'bad.variables.json'), '{"id": "seven"}')
    expect(await compile('bad.gql', out)).toMatchObject({
      exitCode: 1,
      noted: expect.stringContaining(
        'Variable "$id" got invalid value "seven"; Int cannot represent non-integer value',
      ),
    })
    await writeFile(join(folder, 'bad.variables.json'), '[1]')
    expect(await compile('bad.gql', out)).toMatchObject({ exitCode: 2 })
    expect(await compile('one.graphql', out, '--roles', 'anonn')).toMatchObject({
      exitCode: 1,
      noted: expect.stringContaining('the database has no role anonn; did you mean anon?'),
    })
    expect(await runCommand([compileCommand], ['compile', '--roles', 'anon'], {})).toMatchObject({ exitCode: 2 })
    expect(await readdir(out)).toEqual([])
  })

  it('takes the documents of the allow-list, each for the roles that can ask it, with examples by name', async () => {
    const secret = 'query Secret { notesCollection { edges { node { secret } } } }'
    const list = async (text: string, hash = sha256Hex(text)): Promise<unknown> =>
      db.query('insert into private.documents values ($1, $2)', [hash, text])
    const listed = (out: string, ...more: readonly string[]) =>
      runCommand([compileCommand], ['compile', '--allowlist', '--out', out, ...more], {
        environment: { DATABASE_URL: db.url },
      })
    const out = await fresh()
    const examples = join(folder, 'examples.json')
    await writeFile(
      examples,
      JSON.stringify({ Page: { n: 5 }, [sha256Hex(page)]: [{ n: 6, filter: { body: { eq: 'x' } } }] }),
    )
    await list(page)
    await list(secret)
    expect(await listed(out, '--examples', examples)).toMatchObject({
      exitCode: 0,
      noted: expect.stringMatching(/^anon cannot ask 1 of the listed documents/m),
    })
    const { index, at } = await read(out)
    const { anon = {}, authenticated = {} } = index.roles
    expect(Object.keys(anon)).toEqual([sha256Hex(page)])
    expect(Object.keys(authenticated)).toEqual([sha256Hex(page), sha256Hex(secret)].toSorted())
    const { operations } = await at(anon[sha256Hex(page)] ?? '')
    const compiled = Object.values(operations[0]?.shapes ?? {}).map(({ variables }) => variables)
    expect(compiled).toEqual(expect.arrayContaining([{ n: 5 }, { n: 6, filter: { body: { eq: 'x' } } }]))

    await writeFile(examples, '{"Pgae": {"n": 5}}')
    expect(await listed(out, '--examples', examples)).toMatchObject({
      exitCode: 2,
      noted: expect.stringContaining('"Pgae" is neither'),
    })
    expect(await listed(out, '--roles', 'anon')).toMatchObject({
      exitCode: 1,
      noted: expect.stringMatching(/listed [0-9a-f]{12} query Secret.*:1:49: anon: Cannot query field "secret"/),
    })
    await list('{ other }', '00')
    expect(await listed(out)).toMatchObject({
      exitCode: 1,
      noted: expect.stringContaining('the hash is not that of the document'),
    })
    await db.query('delete from private.documents')
  })

  it('writes the SQL that lists the documents, which adds what is not listed', async () => {
    const sql = join(folder, 'list.sql')
    const written = await compile('*.graphql', await fresh(), '--list-sql', sql)
    expect(written).toMatchObject({ exitCode: 0 })
    const admin = await readFile(sql, 'utf8')
    for (const _time of [1, 2]) await db.query(admin)
    const { rows } = await db.query('select hash, document from private.documents order by document')
    expect(rows).toEqual([one, page].map((document) => ({ hash: sha256Hex(document), document })))
    await db.query(`delete from private.documents; comment on schema public is null`)
    expect(await compile('*.graphql', await fresh(), '--list-sql', sql)).toMatchObject({
      exitCode: 1,
      noted: expect.stringContaining('no served schema has an allow-list'),
    })
    expect(await compile('*.graphql', await fresh(), '--allowlist')).toMatchObject({ exitCode: 2 })
  })
})
