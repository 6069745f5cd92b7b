import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { compileCommand } from '../../../../../compiler/commands/compile.ts'
import { costCommand } from '../../../../../compiler/commands/cost.ts'
import { runCommand } from '../../../../support/command.ts'
import {
  parseCertificate,
  printCertificate,
  type Certificate,
  type Cost,
  compareCosts,
} from '../../../../../compiler/commands/advise/cost/certificate.ts'
import { createDatabase, type TestDatabase } from '../../../../support/database.ts'
import { lawMajors } from '../../../../support/whole.ts'

const schema = `
  comment on schema public is '@graphql({"inflect_names": true})';
  create table authors (id int primary key, name text not null);
  create table posts (id int primary key, title text not null, author_id int not null references authors);
  create index posts_author on posts (author_id);
  create table logs (id int not null, at int not null, primary key (id, at)) partition by range (at);
  create table logs_old partition of logs for values from (0) to (100);
  create table logs_new partition of logs for values from (100) to (200);
  insert into authors select n, 'a' || n from generate_series(1, 2000) n;
  insert into posts select n, 't' || n, n % 2000 + 1 from generate_series(1, 20000) n;
  insert into logs select n, n % 200 from generate_series(1, 14000) n;
  create function act(n int) returns int language plpgsql volatile as $$ begin insert into authors values (n, 'x'); return n; end $$;
  grant select on authors, posts, logs to anon, authenticated;
  grant insert, update on authors to authenticated;
  analyze;`

describe.each(lawMajors())('catalograph cost on PostgreSQL %i', (major) => {
  let db: TestDatabase
  let folder: string
  beforeAll(async () => {
    db = await createDatabase({ major, prepare: true, sql: schema })
    folder = await mkdtemp(join(tmpdir(), 'catalograph-cost-'))
    await mkdir(join(folder, 'app/posts'), { recursive: true })
    await file('app/fragments.graphql', 'fragment Title on Posts { ...Key title } fragment Key on Posts { id }')
    await file(
      'app/posts/by.graphql',
      'query By($author: Int!, $n: Int) { postsCollection(first: $n, filter: { authorId: { eq: $author } }) { edges { node { ...Title } } } }',
    )
  })
  afterAll(async () => {
    await db.drop()
    await rm(folder, { recursive: true, force: true })
  })

  const file = async (name: string, text: string): Promise<string> => {
    await writeFile(join(folder, name), text)
    return join(folder, name)
  }
  const run = (...args: readonly string[]) =>
    runCommand([costCommand], ['cost', ...args], { environment: { DATABASE_URL: db.url } })
  const app = () => ['--documents', join(folder, 'app/**/*.graphql')]
  const measured = async (text: string, ...args: readonly string[]): Promise<Certificate['operations']> => {
    const { exitCode, printed } = await run('--documents', await file('one.graphql', text), '--json', ...args)
    expect(exitCode).toBe(0)
    return (JSON.parse(printed) as Certificate).operations
  }
  const one = async (text: string, ...args: readonly string[]): Promise<Cost> =>
    (await measured(text, ...args))[0]?.found as Cost

  it('certifies documents of artifacts for the roles for which they were compiled', async () => {
    const out = join(folder, 'artifacts')
    const args = ['compile', ...app(), '--roles', 'anon,authenticated', '--out', out]
    await runCommand([compileCommand], args, { environment: { DATABASE_URL: db.url } })
    const { operations } = JSON.parse((await run('--artifacts', out, '--json')).printed) as Certificate
    expect(operations).toMatchObject(
      ['anon', 'authenticated'].map((role) => ({ document: 'By', operation: 'By', role, found: { rows: 30 } })),
    )
  })

  it('certifies rows, cost, indexes and large tables that are read from end to end', async () => {
    const { exitCode, printed, noted } = await run(...app(), '--json')
    expect([exitCode, noted]).toEqual([0, ''])
    const { operations } = JSON.parse(printed) as Certificate
    expect(operations).toEqual([
      {
        document: join(folder, 'app/posts/by.graphql'),
        operation: 'By',
        role: 'anon',
        found: {
          rows: 30,
          cost: expect.any(Number) as number,
          variables: { author: 2_147_483_647, n: 2_147_483_647 },
          indexes: ['public.posts_author'],
          scans: [],
        },
      },
    ])
    const nested = await one('{ authorsCollection { edges { node { postsCollection { edges { node { id } } } } } } }')
    expect(nested).toMatchObject({ rows: 930, variables: {} })
    const scan = await one('{ postsCollection(filter: { title: { eq: "t" } }) { edges { node { id } } } }')
    expect(scan.scans).toEqual(['public.posts'])
    expect(
      (await one('{ postsCollection(filter: { title: { eq: "t" } }) { edges { node { id } } } }', '--large', '20001'))
        .scans,
    ).toEqual([])
    // Neither partition has 10,000 rows.
    expect(
      (
        await one(
          '{ logsCollection(filter: { id: { neq: 7 } }, orderBy: [{ at: AscNullsLast }]) { edges { node { at } } } }',
        )
      ).scans,
    ).toEqual(['public.logs'])
  })

  it('runs nothing, and reports what each operation costs each role', async () => {
    const document =
      'mutation Act { act(n: 9000) } mutation Add($rows: [AuthorsInsertInput!]!) { insertIntoAuthorsCollection(objects: $rows) { affectedCount } }'
    const operations = await measured(document, '--role', 'anon,authenticated')
    const told = operations.map(({ operation, role, found }) => [
      operation,
      role,
      'refused' in found ? found.refused : found.cost > 0,
    ])
    expect(told).toEqual([
      ['Act', 'anon', expect.stringContaining('AuthorsInsertInput')],
      ['Act', 'authenticated', true],
      ['Add', 'anon', expect.stringContaining('AuthorsInsertInput')],
      ['Add', 'authenticated', true],
    ])
    expect((await db.query('select count(*)::int as n from authors')).rows).toEqual([{ n: 2000 }])
    const { printed } = await run('--documents', await file('one.graphql', document), '--role', 'authenticated')
    expect(printed).toMatch(
      /one\.graphql, Add {2}\(authenticated\)\n {2}cost \d+; 0 rows at most\n {2}with the variables \{"rows":\[\{"id":2147483647,"name":""\}\]\}/,
    )
  })

  it('takes pages by variables, and what depends on a Boolean, for the dearest that they may be', async () => {
    const plain = await one(
      '{ authorsCollection { edges { node { id postsCollection { edges { node { title } } } } } } }',
    )
    const skips = (directive: string) =>
      one(
        `query ($n: Int!, $b: Boolean!, $f: AuthorsFilter!) { authorsCollection(first: $n, filter: $f) { edges { node { id postsCollection @${directive}(if: $b) { edges { node { title } } } } } } }`,
      )
    for (const directive of ['skip', 'include']) {
      const { cost, rows, variables } = await skips(directive)
      expect({ cost, rows }).toEqual({ cost: plain.cost, rows: plain.rows })
      expect(variables).toMatchObject({ b: directive === 'include', f: {} })
    }
  })

  it('thinks up nodes of the types that a document names, and says what it cannot think up', async () => {
    const node = await one(
      'query ($id: ID!) { node(nodeId: $id) { ... on Authors { postsCollection { edges { node { id } } } } ... on Posts { title } } }',
    )
    expect(node.rows).toBe(30)
    expect(node.indexes).toContain('public.authors_pkey')
    expect(Buffer.from(String(node.variables['id']), 'base64').toString()).toBe('["public","authors",1]')
    const [other] = await measured('query ($c: Cursor!) { postsCollection(after: $c) { edges { node { id } } } }')
    expect(other?.found).toEqual({ refused: expect.stringContaining('"$c" of required type "Cursor!"') as string })
  })

  it('names columns in variables that can be compared', async () => {
    await db.query(`create table pairs (id int primary key, a text, b text, c int); grant select on pairs to anon;
      comment on table pairs is '@graphql({"columnFilters": {"enabled": true}})'; analyze pairs`)
    const compared = await one(
      'query ($c: PairsComparedColumn!) { pairsCollection(filter: { columns: { a: { gt: $c } } }) { edges { node { id } } } }',
      '--role',
      'anon',
    )
    expect(compared.rows).toBe(30)
    expect(['a', 'b']).toContain(compared.variables['c'])
  })

  it('says that it does not know what was never analyzed', async () => {
    await db.query('create table fresh (id int primary key, note text); grant select on fresh to anon')
    const { noted } = await run(
      '--documents',
      await file('one.graphql', '{ freshCollection(filter: { note: { eq: "x" } }) { edges { node { id } } } }'),
    )
    expect(noted).toContain('never analyzed, so that their sizes are unknown: public.fresh')
    await db.query('drop table fresh')
  })

  it('fails when an operation got dearer, lost an index or reads a large table', async () => {
    const certificate = join(folder, 'cost.json')
    expect(await run(...app(), '--out', certificate)).toMatchObject({
      exitCode: 0,
      printed: `${certificate}: 1 operations`,
    })
    const text = await readFile(certificate, 'utf8')
    expect(await run(...app(), '--out', certificate)).toMatchObject({ exitCode: 0 })
    expect(await readFile(certificate, 'utf8')).toBe(text)
    expect(await run(...app(), '--check', certificate)).toMatchObject({
      exitCode: 0,
      printed: '0 of 1 operation not as certified (1.5 times as dear is allowed)',
    })
    await db.query('drop index posts_author')
    const after = await run(...app(), '--check', certificate)
    await db.query('create index posts_author on posts (author_id)')
    expect(after.exitCode).toBe(1)
    expect(after.printed).toMatch(/^1 of 1 operation not as certified/)
    expect(after.printed).toContain('by.graphql, By  (anon)')
    expect(after.printed).toMatch(/Its cost went from \d+ to \d+, \d+\.\d times as much\./)
    expect(after.printed).toContain('It uses the index public.posts_author no more.')
    expect(after.printed).toContain('It reads the large table public.posts from end to end.')
  })

  it('fails for what is not certified or refused of late, and not for what is there no more', async () => {
    const certificate = join(folder, 'cost.json')
    const more = await file('app/more.graphql', '{ authorsByPk(id: 1) { name } }')
    const grown = await run(...app(), '--check', certificate, '--json')
    expect(grown.exitCode).toBe(1)
    expect(JSON.parse(grown.printed)).toMatchObject({
      dearer: [{ document: more, operation: null, problems: ['It is not in the certificate.'] }],
      gone: [],
    })
    await run(...app(), '--out', certificate)
    await db.query('revoke select on authors from anon')
    expect((await run(...app(), '--check', certificate)).printed).toContain('It is refused: ')
    await db.query('grant select on authors to anon')
    await rm(more)
    const gone = await run(...app(), '--check', certificate)
    expect([gone.exitCode, gone.printed]).toEqual([0, expect.stringContaining('more.graphql  (anon): there no more')])
  })

  it.each([
    [[], 2, 'cost needs --documents or --artifacts'],
    [['--artifacts', 'nowhere'], 2, '--artifacts: '],
    [['--documents', '/nowhere/*.graphql'], 2, '--documents /nowhere/*.graphql names no file'],
    [['--documents', 'HERE', '--role', 'anon,'], 2, '--role takes names with commas between them'],
    [['--documents', 'HERE', '--factor', '2'], 2, '--factor goes with --check'],
    [['--documents', 'HERE', '--large', 'many'], 2, '--large takes a number, not "many"'],
    [['--documents', 'HERE', '--check', '/nowhere'], 2, '--check: /nowhere cannot be read (ENOENT)'],
    [['--documents', 'HERE', '--check', 'HERE'], 2, 'is not a certificate that cost wrote'],
    [['--documents', 'HERE', '--role', 'nobody_knows'], 3, 'the database has no role nobody_knows'],
  ])('%j is refused with a sentence', async (args, exitCode, sentence) => {
    const ran = await run(...args.map((arg) => (arg === 'HERE' ? join(folder, 'app/fragments.graphql') : arg)))
    expect(ran).toMatchObject({ exitCode, noted: expect.stringContaining(sentence) as string })
  })
})

describe('certificates', () => {
  const names = fc.uniqueArray(fc.constantFrom('a', 'b', 'c'))
  const cost = fc.record({
    rows: fc.nat(1000),
    cost: fc.nat(100_000),
    variables: fc.constant({}),
    indexes: names,
    scans: names,
  })
  const found = fc.oneof(cost, fc.record({ refused: fc.string() }))
  const certificates: fc.Arbitrary<Certificate> = fc.record({
    format: fc.constant(1 as const),
    large: fc.nat(),
    operations: fc.uniqueArray(
      fc.record({
        document: fc.constantFrom('x', 'y'),
        operation: fc.option(fc.constantFrom('A', 'B')),
        role: fc.constantFrom('anon', 'r'),
        found,
      }),
      { selector: ({ document, operation, role }) => `${document} ${operation} ${role}` },
    ),
  })

  it('come back as they were written, and hold themselves', () => {
    fc.assert(
      fc.property(certificates, (certificate) => {
        const read = parseCertificate(printCertificate(certificate))
        expect(read).toEqual(certificate)
        expect(compareCosts(certificate, read ?? certificate, 1)).toEqual({ dearer: [], gone: [] })
      }),
    )
  })
  it('are held by what is cheaper, and by nothing dearer than the factor', () => {
    fc.assert(
      fc.property(cost, fc.nat(200_000), (before, now) => {
        const certified = (one: Cost): Certificate => ({
          format: 1,
          large: 1,
          operations: [{ document: 'x', operation: null, role: 'anon', found: one }],
        })
        const { dearer } = compareCosts(certified(before), certified({ ...before, cost: now }), 2)
        expect(dearer.length > 0).toBe(now > 2 * Math.max(10, before.cost))
      }),
    )
  })
  it.each([
    '',
    '[]',
    'null',
    '{"format": 2}',
    '{"format": 1, "large": 1, "operations": [{}]}',
    '{"format": 1, "large": 1, "operations": [{"document": "x", "operation": null, "role": "a", "found": {"cost": "1"}}]}',
  ])('are no %s', (text) => {
    expect(parseCertificate(text)).toBeNull()
  })
})
