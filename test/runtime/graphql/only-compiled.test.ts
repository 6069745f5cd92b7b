import { cp, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { compileCommand } from '../../../compiler/commands/compile.ts'
import { installLive } from '../../../compiler/following/prepare/install-live.ts'
import { serveCommand } from '../../../compiler/commands/serve.ts'
import { createClient } from '../../../runtime/client/client.ts'
import { withSession } from '../../../runtime/db/connect/session.ts'
import { openDatabase, type Database } from '../../../runtime/db/pool/pool.ts'
import { loadRevision } from '../../../runtime/engine/load.ts'
import { printedResult } from '../../../compiler/commands/compiled/legible.ts'
import { withSeal } from '../../../runtime/graphql/compiled/found.ts'
import { createReadApart, type ReadApart } from '../../../runtime/graphql/compiled/apart.ts'
import { createCompiledService } from '../../../runtime/graphql/compiled/serve.ts'
import { documentsIn, findDocuments, readDocumentFile } from '../../../runtime/graphql/compiled/read-document.ts'
import { createCompiledSource } from '../../../runtime/graphql/compiled/source.ts'
import { documentFile, type DocumentsIndex } from '../../../runtime/graphql/compiled/format.ts'
import { readBodyQuickly } from '../../../runtime/graphql/http/request.ts'
import type { GraphqlRequest } from '../../../runtime/graphql/protocol/request-and-answer.ts'
import { createService } from '../../../compiler/additions/service.ts'
import type { GraphqlService } from '../../../runtime/graphql/serve.ts'
import { sha256Hex } from '../../../runtime/lib/text.ts'
import type { LogEvent } from '../../../runtime/settings/log/events.ts'
import { runCommand } from '../../support/command.ts'
import { createDatabase } from '../../support/database.ts'
import { forSuite } from '../../support/for-suite.ts'
import { serveBuilt } from '../../support/served.ts'
import type { Answer } from '../../support/service.ts'

const documents = {
  one: 'query One($id: Int!) { notesByPk(id: $id) { body } }\n',
  page: 'query Page($n: Int, $after: Cursor, $filter: notesFilter, $order: [notesOrderBy!]) {\n  notesCollection(first: $n, after: $after, filter: $filter, orderBy: $order) { edges { cursor node { id kind } } }\n}\n',
  add: 'mutation Add($rows: [notesInsertInput!]!) { insertIntonotesCollection(objects: $rows) { affectedCount } }\n',
  tags: '{ tagsCollection { edges { node { name } } } }\n',
  sizes: `query Sizes($n: Int, $last: Int, $skip: Int) {
    notesCollection(first: $n, last: $last, offset: $skip) {
      edges { node { id } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
    }
    tagsCollection(first: $n) { edges { node { name } } pageInfo { hasNextPage endCursor } }
  }\n`,
  names: `query Names($__proto__: Int, $constructor: Int, $toString: Boolean!, $order: [notesOrderBy!]) {
    notesCollection(first: $__proto__, offset: $constructor, orderBy: $order) { edges { node { id kind @skip(if: $toString) } } }
  }\n`,
  shown:
    'query Shown($yes: Boolean!) { notesCollection(first: 1) { edges { node { id body @include(if: $yes) } } } }\n',
}
const examples = [
  { n: 2 },
  { n: 2, after: 'WzFd' },
  { n: 2, filter: { id: { gt: 1 } } },
  { n: 1, order: [{ kind: 'DescNullsLast' }] },
]

let database: Database
let sources: string
let out: string
let clock = 0
const events: LogEvent[] = []

const db = forSuite(createDatabase, {
  prepare: true,
  sql: `
      create type kind as enum ('short', 'long');
      create table notes (id int primary key, body text, kind kind, spare int);
      create table tags (id int primary key, name text);
      insert into notes select n, 'note ' || n, case when n % 2 = 0 then 'long'::kind else 'short' end from generate_series(1, 5) n;
      comment on table tags is '@graphql({"max_rows": 2})';
      insert into tags values (1, 'red'), (2, 'green'), (3, 'blue');
      grant select, insert on notes, tags to anon`,
})
beforeAll(async () => {
  database = openDatabase({ url: db.url, schemas: ['public'], poolSize: 2 })
  sources = await mkdtemp(join(tmpdir(), 'catalograph-only-'))
  for (const [name, text] of Object.entries(documents)) await writeFile(join(sources, `${name}.graphql`), text)
  await writeFile(join(sources, 'page.variables.json'), JSON.stringify(examples))
  const ordered = '"toString": true, "order": [{"id": "DescNullsLast"}]'
  const named = ['', ', "__proto__": 2', ', "constructor": 3', ', "__proto__": 2, "constructor": 3']
  await writeFile(join(sources, 'names.variables.json'), `[${named.map((more) => `{${ordered}${more}}`).join()}]`)
  out = await compiled()
})
afterAll(() => database.close())
beforeEach(() => {
  clock += 10_000
  events.length = 0
})

async function compiled(into?: string, only = '*'): Promise<string> {
  const folder = into ?? (await mkdtemp(join(tmpdir(), 'catalograph-only-out-')))
  const { exitCode, noted } = await runCommand(
    [compileCommand],
    ['compile', '--documents', join(sources, `${only}.graphql`), '--out', folder],
    { environment: { DATABASE_URL: db.url } },
  )
  expect([exitCode, noted.match(/error.*/i)]).toEqual([0, null])
  return folder
}

const onlyCompiled = (folder = out, apart: ReadApart | null = null): GraphqlService =>
  createCompiledService(
    {
      database,
      source: createCompiledSource({
        documents: documentsIn(folder),
        query: database.query,
        log: (event) => events.push(event),
      }),
      now: () => clock,
    },
    readDocumentFile,
    apart,
  )

/** A folder of the artifacts with a change. */
const changed = async (change: (place: string, index: string) => Promise<void>): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'catalograph-only-out-'))
  await cp(out, folder, { recursive: true })
  const { revision } = JSON.parse(await readFile(join(folder, 'current.json'), 'utf8')) as { revision: string }
  const place = join(folder, revision, 'documents')
  await change(place, join(place, 'index.json'))
  return folder
}
const edited =
  (from: string, to: string) =>
  async (_place: string, index: string): Promise<void> =>
    writeFile(index, (await readFile(index, 'utf8')).replaceAll(from, to))
/** An index as `compile` would have written it. */
const written = async (path: string, change: (index: DocumentsIndex) => object): Promise<void> => {
  const { seal: _seal, ...index } = JSON.parse(await readFile(path, 'utf8')) as DocumentsIndex
  await writeFile(path, withSeal(printedResult({ ...index, ...change({ ...index, seal: '' }) })))
}

type Given = NonNullable<Asked['variables']>

interface Asked extends Partial<GraphqlRequest> {
  readonly role?: string
}

async function bytes(service: GraphqlService, { role = 'anon', ...asked }: Asked): Promise<string> {
  const request = { query: null, operationName: null, variables: {}, extensions: {}, queryOnly: false, ...asked }
  const { body } = await service.serve(request, { role, claims: JSON.stringify({ role }) })
  return body.toString()
}

const cut = async (_place: string, index: string): Promise<void> =>
  writeFile(index, (await readFile(index, 'utf8')).slice(0, -200))

const codeOf = async (service: GraphqlService, asked: Asked): Promise<string | undefined> =>
  (JSON.parse(await bytes(service, asked)) as Answer).errors?.[0]?.extensions.code

const byHash = (text: string): Asked => ({
  extensions: { persistedQuery: { version: 1, sha256Hash: sha256Hex(text) } },
})

describe('a server of compiled documents', () => {
  it('answers by text and by hash what a general server answers', async () => {
    const general = createService({ database, source: () => loadRevision(out) })
    const compiledOnly = onlyCompiled()
    const questions: readonly (readonly [string, Asked['variables']])[] = [
      [documents.one, { id: 3 }],
      [documents.one, { id: 99 }],
      [documents.page, {}],
      ...examples.map((variables) => [documents.page, variables] as const),
      [documents.page, { n: 2, filter: { id: { gt: 3 } } }],
      [documents.page, { n: 2, after: 'WzJd' }],
      [documents.page, { n: null, after: null }],
      [documents.tags, {}],
      [documents.shown, { yes: true }],
      [documents.shown, { yes: false }],
      // A value that does not fit is refused in the same words.
      [documents.one, {}],
      [documents.one, { id: 'x', more: 1 }],
      [documents.one, { id: 2 ** 40 }],
      [documents.page, { filter: { idd: { gt: 1 }, kind: { eq: 'LONGER' } } }],
      [documents.page, { order: [{ kind: 'Up' }], n: 1.5 }],
      [documents.add, { rows: [{ id: 'a' }] }],
    ]
    for (const [query, variables = {}] of questions) {
      const expected = await bytes(general, { query, variables })
      expect(await bytes(compiledOnly, { query, variables })).toBe(expected)
      expect(await bytes(compiledOnly, { ...byHash(query), variables })).toBe(expected)
    }
    const rows = [{ id: 10, body: 'new', kind: 'short', spare: null }]
    expect(await bytes(compiledOnly, { query: documents.add, variables: { rows } })).toBe(
      '{"data":{"insertIntonotesCollection":{"affectedCount":1}}}',
    )
    await db.query('delete from notes where id = 10')
  })

  it('knows variables by the names that every object has', async () => {
    const general = createService({ database, source: () => loadRevision(out) })
    const compiledOnly = onlyCompiled()
    const given = [
      '',
      '"__proto__": 2',
      '"constructor": 3',
      '"__proto__": 2, "constructor": 3',
      '"__proto__": {"constructor": 3}',
      '"constructor": "x"',
    ].flatMap((some) =>
      ['"toString": false', '"toString": true, "order": [{"id": "DescNullsLast"}]', '"valueOf": 1'].map(
        (more) => JSON.parse(`{${[some, more].filter((text) => text !== '').join()}}`) as Given,
      ),
    )
    for (const variables of given) {
      const asked = { query: documents.names, variables }
      expect([variables, await bytes(compiledOnly, asked)]).toEqual([variables, await bytes(general, asked)])
    }
  })

  it('answers for every page size, within the largest page of each table', async () => {
    const general = createService({ database, source: () => loadRevision(out) })
    const compiledOnly = onlyCompiled()
    const sizes = [undefined, null, 0, 1, 2, 3, 30, 31, 2_147_483_647, -1, -5, 2_147_483_648]
    const pages = [...sizes.map((n) => ({ n })), ...sizes.map((last) => ({ last }))].flatMap((page) =>
      [undefined, 0, 4, -1].map((skip) => ({ ...page, skip })),
    )
    for (const variables of [...pages, { n: 1, last: 1 }]) {
      const asked = { query: documents.sizes, variables: JSON.parse(JSON.stringify(variables)) as Given }
      expect(await bytes(compiledOnly, asked)).toBe(await bytes(general, asked))
    }
  })

  it('refuses everything else with a code, and nothing runs', async () => {
    const service = onlyCompiled()
    const other = '{ notesCollection { edges { node { body } } } }'
    expect(await codeOf(service, { query: other })).toBe('DOCUMENT_NOT_COMPILED')
    expect(await codeOf(service, { query: documents.one, role: 'authenticated' })).toBe('DOCUMENT_NOT_COMPILED')
    expect(await codeOf(service, byHash(other))).toBe('PERSISTED_QUERY_NOT_FOUND')
    expect(await codeOf(service, { ...byHash(other), query: documents.one })).toBe('PERSISTED_QUERY_MISMATCH')
    expect(await codeOf(service, { query: '{ __schema { types { name } } }' })).toBe('ONLY_COMPILED')
    expect(await codeOf(service, { query: documents.tags, extensions: { explain: true } })).toBe('ONLY_COMPILED')
    expect(await codeOf(service, { query: documents.tags, extensions: { schemaReport: true } })).toBe('ONLY_COMPILED')
    expect(await codeOf(service, { query: documents.tags, operationName: 'Other' })).toBe('OPERATION_NOT_FOUND')
    const unforeseen = { filter: { body: { eq: 'note 1' } } }
    expect(await codeOf(service, { query: documents.page, variables: unforeseen })).toBe('VARIABLES_NOT_COMPILED')
    expect(await codeOf(service, { query: documents.page, variables: { after: 'nothing' } })).toBe('BAD_ARGUMENT')
    const rows = [{ id: 11, body: '', kind: 'short', spare: 1 }]
    expect(await codeOf(service, { query: documents.add, variables: { rows }, queryOnly: true })).toBe(
      'MUTATION_BY_GET',
    )
    expect(await service.describe('anon')).toBeNull()
  })

  it('goes on over changes that documents survive, and picks up new artifacts after one that they do not', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'catalograph-only-out-'))
    await cp(out, folder, { recursive: true })
    const service = onlyCompiled(folder)
    const one = { query: documents.one, variables: { id: 1 } }
    expect(await codeOf(service, one)).toBeUndefined()
    await db.query('alter table notes drop column spare, add column later int')
    expect(await codeOf(service, one)).toBeUndefined()
    expect(events).toEqual([
      { kind: 'documents-outdated', documents: 1, missing: 'public.notes.spare of type integer' },
    ])

    await db.query('alter table notes alter column body type int using id')
    expect(await codeOf(service, one)).toBe('DOCUMENT_OUTDATED')
    expect(await codeOf(service, { query: documents.tags })).toBeUndefined()
    await compiled(folder)
    clock += 2_000
    // This request has the artifacts looked at, and the next one has them.
    await bytes(service, one)
    await expect.poll(() => bytes(service, one)).toBe('{"data":{"notesByPk":{"body":1}}}')

    await db.query(
      `alter table notes drop column later, add column spare int, alter column body type text using 'note ' || id`,
    )
  })

  describe('knows by what it was decided what a subscription reads', () => {
    const text = 'subscription Boards { boardsCollection { edges { node { id } } } }\n'
    const run = { query: text, live: true }
    let folder: string
    beforeAll(async () => {
      await db.query(`
        create table boards (id int primary key, owner text);
        create table private_members (account text primary key);
        create table strangers (account text primary key);
        comment on table boards is '@graphql({"live": {"enabled": true}})';
        comment on table private_members is '@graphql({"live": {"enabled": true}})';
        create function is_member(account text) returns boolean stable language plpgsql security definer as
          $$ begin return exists (select from private_members m where m.account = $1); end $$;
        alter table boards enable row level security;
        create policy reading on boards for select using (is_member(owner));
        grant select on boards to anon`)
      const tables = ['boards', 'private_members'].map((name) => ({ schema: 'public', name }))
      expect(await withSession({ url: db.ownerUrl }, (query) => installLive(query, tables))).toEqual([])
      await writeFile(join(sources, 'boards.graphql'), text)
      folder = await compiled(undefined, 'boards')
    })

    it.each([
      [
        'a policy that reads another table',
        'alter policy reading on boards using (owner in (select account from strangers))',
        'alter policy reading on boards using (is_member(owner))',
      ],
      [
        'a policy that depends on the clock',
        `alter policy reading on boards using (now() > '2020-01-01')`,
        'alter policy reading on boards using (is_member(owner))',
      ],
      [
        'row-level security',
        'alter table boards disable row level security',
        'alter table boards enable row level security',
      ],
      [
        'the body of a function that a policy calls',
        `create or replace function is_member(account text) returns boolean stable language sql security definer as
          $$ select exists (select from strangers s where s.account = $1) $$`,
        `create or replace function is_member(account text) returns boolean stable language plpgsql security definer as
          $$ begin return exists (select from private_members m where m.account = $1); end $$`,
      ],
      [
        'a policy of a table that such a function reads',
        'alter table private_members enable row level security',
        'alter table private_members disable row level security',
      ],
    ])('so that a change of %s makes it outdated', async (_what, change, back) => {
      const service = onlyCompiled(folder)
      expect(await codeOf(service, run)).toBeUndefined()
      await db.query('alter table boards add column note text; alter table strangers add column note text')
      expect(await codeOf(service, run)).toBeUndefined()
      await db.query('alter table boards drop column note; alter table strangers drop column note')
      await db.query(change)
      expect(await codeOf(service, run)).toBe('DOCUMENT_OUTDATED')
      await db.query(back)
      expect(await codeOf(service, run)).toBeUndefined()
    })
  })

  it('runs a request once where roles are members of others than where it was compiled', async () => {
    const folder = await changed(async (_place, index) =>
      written(index, ({ manifest }) => {
        const holders = [...manifest.holders, 'service_role'].toSorted()
        const roles = { ...manifest.roles, anon: { superuser: false, effective: ['anon', 'public', 'service_role'] } }
        return { manifest: { ...manifest, holders, roles } }
      }),
    )
    let runs = 0
    const service = createCompiledService(
      {
        database: {
          run: (...exchange) => {
            runs += 1
            return database.run(...exchange)
          },
        },
        source: createCompiledSource({ documents: documentsIn(folder), query: database.query, log: () => undefined }),
      },
      readDocumentFile,
    )
    // The mark that earlier tests left may be outdated: the first request compares it, and then the counter.
    expect(await codeOf(service, { query: documents.tags })).toBeUndefined()
    runs = 0
    expect(await codeOf(service, { query: documents.tags })).toBeUndefined()
    expect(runs).toBe(1)
  })

  it('keeps what it has while newer artifacts cannot be read', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'catalograph-only-out-'))
    await cp(out, folder, { recursive: true })
    const service = onlyCompiled(folder)
    expect(await codeOf(service, { query: documents.tags })).toBeUndefined()
    await writeFile(join(folder, 'current.json'), '{"revision": "none"}')
    clock += 2_000
    expect(await codeOf(service, { query: documents.tags })).toBeUndefined()
    clock += 2_000
    expect(await codeOf(service, { query: documents.tags })).toBeUndefined()
  })

  it('refuses a document whose file is not what was compiled, when it is asked', async () => {
    const folder = await changed(async (place, index) => {
      const { roles } = JSON.parse(await readFile(index, 'utf8')) as DocumentsIndex
      const path = join(place, `${roles['anon']?.[sha256Hex(documents.one)]}.json`)
      await writeFile(path, `${await readFile(path, 'utf8')} `)
      await written(index, ({ roles: all }) => {
        const { [sha256Hex(documents.shown)]: address = '', ...others } = all['anon'] ?? {}
        return { roles: { anon: { ...others, [sha256Hex('{ other }')]: address } } }
      })
    })
    const service = onlyCompiled(folder)
    expect(await codeOf(service, { query: documents.one, variables: { id: 1 } })).toBe('DOCUMENT_DAMAGED')
    expect(await codeOf(service, { query: '{ other }' })).toBe('DOCUMENT_DAMAGED')
    expect(await codeOf(service, { query: documents.tags })).toBeUndefined()
  })

  it('reads a document that other artifacts took the place of from those', async () => {
    const folder = await changed(async () => undefined)
    const service = onlyCompiled(folder)
    expect(await codeOf(service, { query: documents.tags })).toBeUndefined()
    await compiled(folder, 'tags')
    expect(await codeOf(service, { query: documents.page })).toBe('DOCUMENT_NOT_COMPILED')
  })

  describe('at its start', () => {
    const serve = (folder: string, url = db.url) =>
      runCommand([serveCommand], ['serve', '--artifacts', folder, '--only-compiled'], {
        environment: { DATABASE_URL: url, JWT_SECRET: 'a'.repeat(32), PORT: '0' },
        stop: new Promise(() => undefined),
      })

    it.each([
      ['of another format', edited('"format": 8', '"format": 7'), /has format 7, this version reads format 8/],
      ['whose index lacks a part', edited('"needs"', '"other"'), /index.json was changed after it was compiled/],
      [
        'whose index says something else',
        edited('"public"', '"other"'),
        /index.json was changed after it was compiled/,
      ],
      ['whose index ends early', cut, /index.json is not JSON/],
      [
        'without documents',
        (_place: string, index: string) => rm(index),
        /hold no documents. Compile with --documents/,
      ],
      [
        'without a file that they name',
        async (place: string) => {
          const [name = ''] = (await readdir(place)).filter((file) => file !== 'index.json')
          await rm(join(place, name))
        },
        /There is no .*documents/,
      ],
    ] as const)('refuses artifacts %s', async (_what, change, words) => {
      expect(await serve(await changed(change))).toMatchObject({ exitCode: 1, noted: expect.stringMatching(words) })
    })

    it('refuses artifacts of another database, and one that is not prepared', async () => {
      const other = await createDatabase({ prepare: true, sql: 'create table things (id int primary key)' })
      const bare = await createDatabase({})
      onTestFinished(async () => void (await Promise.all([other.drop(), bare.drop()])))
      expect(await serve(out, other.url)).toMatchObject({
        exitCode: 1,
        noted: expect.stringMatching(/artifacts \(revision [0-9a-f]{16}\) are of another database.*lacks public\./),
      })
      expect(await serve(out, bare.url)).toMatchObject({
        exitCode: 1,
        noted: expect.stringContaining('the database is not prepared'),
      })
    })

    it('goes with --artifacts alone', async () => {
      const environment = { DATABASE_URL: db.url, JWT_SECRET: 'a'.repeat(32) }
      expect(await runCommand([serveCommand], ['serve', '--only-compiled'], { environment })).toMatchObject({
        exitCode: 2,
        noted: expect.stringContaining('--only-compiled goes with --artifacts'),
      })
    })
  })

  it('reads many variables on another thread, with the same answers', async () => {
    const thread = createReadApart()
    let count = 0
    const apart: ReadApart = (...question) => {
      count += 1
      return thread(...question)
    }
    const [reads, readsApart] = [onlyCompiled(), onlyCompiled(out, apart)]
    // Some are there, so that none is added.
    const rows = Array.from({ length: 3_000 }, (_, id) => ({ id, body: `note ${id}`, kind: 'short', spare: null }))
    const bodyFor = (all: readonly object[]): string =>
      JSON.stringify({ query: documents.add, variables: { rows: all } })
    const bodies = [bodyFor(rows), bodyFor([...rows, { id: 'x' }]), bodyFor([...rows, { id: 1, lost: 1 }])]
    const codes = ['DATABASE_REFUSED', 'BAD_VARIABLES', 'BAD_VARIABLES']
    for (const [at, body] of bodies.entries()) {
      const request = readBodyQuickly(body)
      expect(request.unread).toBe(body)
      const answer = await bytes(readsApart, request)
      expect([count, answer]).toEqual([at + 1, await bytes(reads, request)])
      expect(answer).toContain(codes[at])
    }
    const torn = { ...readBodyQuickly(bodyFor(rows)), unread: bodyFor(rows).slice(0, -1) }
    for (const service of [reads, readsApart])
      await expect(bytes(service, torn)).rejects.toMatchObject({ code: 'BODY_MALFORMED' })
    const folder = await changed(() => Promise.resolve())
    const others = onlyCompiled(folder, thread)
    expect(await codeOf(others, { query: documents.add, variables: { rows: rows.slice(1, 2) } })).toBe(
      'DATABASE_REFUSED',
    )
    const { index, folder: place } = findDocuments(folder)
    await rm(join(place, documentFile(index.roles['anon']?.[sha256Hex(documents.add)] ?? '')))
    expect(await codeOf(others, readBodyQuickly(bodyFor(rows)))).toBe('DOCUMENT_DAMAGED')
  })

  it('loads no graphql-js, no validator, no compiler and nothing that fetches', async () => {
    const coverage = await mkdtemp(join(tmpdir(), 'catalograph-only-modules-'))
    const options = ['--artifacts', out, '--only-compiled']
    const served = await serveBuilt(db, { NODE_V8_COVERAGE: coverage, WORKERS: '2' }, null, options)
    const post = async (query: string, variables = {}): Promise<unknown> => {
      const headers = { apikey: served.anon, 'content-type': 'application/json' }
      const body = JSON.stringify({ query, variables })
      return (await fetch(`${served.url}/graphql/v1`, { method: 'POST', headers, body })).json()
    }
    // The other worker may be ready a moment later than the one that said so.
    await expect.poll(() => post(documents.one, { id: 3 })).toEqual({ data: { notesByPk: { body: 'note 3' } } })
    expect(await post('{ other }')).toMatchObject({ errors: [{ extensions: { code: 'DOCUMENT_NOT_COMPILED' } }] })
    const rows = Array.from({ length: 3_000 }, (_, id) => ({ id, body: '', kind: 'short', spare: null }))
    expect(await post(documents.add, { rows })).toMatchObject({
      errors: [{ extensions: { code: 'DATABASE_REFUSED' } }],
    })
    const asked: { readonly query?: string }[] = []
    const { graphql } = createClient(served.url, served.anon, {
      fetch: (input, init) => {
        asked.push(JSON.parse(String(init?.body)) as (typeof asked)[number])
        return fetch(input, init)
      },
    })
    const hashed = (text: string): string =>
      Object.assign(new String(text), { __meta__: { hash: sha256Hex(text) } }) as unknown as string
    expect(await graphql(hashed(documents.one), { id: 3 })).toMatchObject({ data: { notesByPk: { body: 'note 3' } } })
    expect((await graphql(hashed('{ other }'))).error?.code).toBe('DOCUMENT_NOT_COMPILED')
    expect(asked.map(({ query }) => query)).toEqual([undefined, undefined, '{ other }'])
    const schema = await fetch(`${served.url}/admin/v1/schema`, {
      headers: { authorization: `Bearer ${served.service}` },
    })
    expect([schema.status, await schema.text()]).toEqual([404, expect.stringContaining('compiled documents only')])
    expect((await fetch(`${served.url}/health`)).status).toBe(200)
    await served.stop()
    // Of the primary and its workers; who is ended before it has written leaves none.
    const files = await readdir(coverage)
    const reports = await Promise.all(files.map((file) => readFile(join(coverage, file), 'utf8')))
    const loaded = reports.flatMap((text) =>
      (JSON.parse(text) as { result: { url: string }[] }).result.map(({ url }) => url),
    )
    expect(loaded.filter((url) => url.includes('graphql/compiled/worker.js'))).not.toEqual([])
    expect(loaded.filter((url) => url.includes('node_modules/graphql/'))).toEqual([])
    // The fetch library, used only to read the keys of issuers, takes 4 MB.
    expect(loaded.filter((url) => url.startsWith('node:internal/deps/'))).not.toEqual([])
    expect(loaded.filter((url) => url.includes('/undici'))).toEqual([])
    const own = await Promise.all(
      loaded.filter((url) => url.includes('/dist/')).map((url) => readFile(new URL(url), 'utf8')),
    )
    for (const stage of ['function createCompiledService(', 'function createService(', 'function createCompiler('])
      expect([stage, own.some((text) => text.includes(stage))]).toEqual([stage, stage.includes('Compiled')])
    // Packages are in what is built, by their names here.
    for (const [part, isLoaded] of [
      ['function fastify(', true],
      ['class GraphQLSchema', false],
    ] as const)
      expect([part, own.some((text) => text.includes(part))]).toEqual([part, isLoaded])
  }, 60_000)
})
