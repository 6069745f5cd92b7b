import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { mkdtemp, readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { importCommand } from '../../../../../compiler/commands/import.ts'
import { runCommand, type CommandAnswer } from '../../../../support/command.ts'
import { createDatabase } from '../../../../support/database.ts'
import { forSuite } from '../../../../support/for-suite.ts'
import { truthOf, type Row, type Rows } from './hasura-rows.ts'

const here = fileURLToPath(new URL('.', import.meta.url))
const metadata = join(here, 'metadata')
const names = [
  'org',
  'country',
  'person',
  'team',
  'team_member',
  'project',
  'task',
  'comment',
  'invoice',
  'invoice_line',
  'audit',
  'open_task',
]

/** Written from the schema, not from the importer. */
const related: Readonly<Record<string, Rows['tables'][string]['related']>> = {
  org: { people: { table: 'person', pairs: [['id', 'org_id']] } },
  person: { memberships: { table: 'team_member', pairs: [['id', 'person_id']] } },
  team: {
    org: { table: 'org', pairs: [['org_id', 'id']] },
    members: { table: 'team_member', pairs: [['id', 'team_id']] },
  },
  team_member: { team: { table: 'team', pairs: [['team_id', 'id']] } },
  project: { team: { table: 'team', pairs: [['team_id', 'id']] } },
  task: {
    project: { table: 'project', pairs: [['project_id', 'id']] },
    parent: { table: 'task', pairs: [['parent_id', 'id']] },
    creator: { table: 'person', pairs: [['created_by', 'id']] },
    children: { table: 'task', pairs: [['id', 'parent_id']] },
  },
  comment: { task: { table: 'task', pairs: [['task_id', 'id']] } },
  invoice_line: { invoice: { table: 'invoice', pairs: [['invoice_id', 'id']] } },
}

const user = (number: number): string => `00000000-0000-4000-8000-00000000000${number}`

/** The callers: three roles of Hasura, one of them as two people. */
const callers = [
  { role: 'anonymous', session: {} },
  { role: 'user', session: { 'X-Hasura-User-Id': user(1) } },
  { role: 'user', session: { 'X-Hasura-User-Id': user(3) } },
  { role: 'manager', session: { 'X-Hasura-Org-Id': '1', 'X-Hasura-Org-Ids': '{1,2}' } },
]

const db = forSuite(createDatabase, {
  sql: readFileSync(join(here, 'schema.sql'), 'utf8'),
  prepare: true,
  isolated: true,
})
let folder = ''
let rows: Rows['tables'] = {}

/** Hasura, for queries of one table without arguments. */
const old = createServer(async (request, response) => {
  const { query } = JSON.parse(await text(request)) as { readonly query: string }
  const [, root = '', fields = ''] = /^query \{ (\w+) \{ (.*) \} \}$/.exec(query) ?? []
  const name = { Organisation: 'org', allTasks: 'task' }[root] ?? root
  const session = Object.fromEntries(Object.entries(request.headers).map(([key, value]) => [key, String(value)]))
  const file = parse(readFileSync(join(metadata, `databases/default/tables/public_${name}.yaml`), 'utf8')) as Row
  const permission = (file['select_permissions'] as { role: string; permission: { filter: Row } }[]).find(
    ({ role }) => role === session['x-hasura-role'],
  )
  // Written with what only Hasura has, and not carried.
  const foreign: Readonly<Record<string, readonly Row[]>> = { audit: rows['audit']?.rows.slice(0, 1) ?? [] }
  const isRefused = session['x-hasura-admin-secret'] !== 'secret' || permission === undefined
  const found =
    foreign[name] ??
    (rows[name]?.rows ?? []).filter(
      (row) => truthOf(permission?.permission.filter ?? {}, row, name, { tables: rows, session }) === true,
    )
  const columnOf = (field: string): string => ({ fullName: 'full_name', isAdmin: 'is_admin' })[field] ?? field
  const shown = found.map((row) => Object.fromEntries(fields.split(' ').map((field) => [field, row[columnOf(field)]])))
  response.end(JSON.stringify(isRefused ? { errors: [{ message: 'access-denied' }] } : { data: { [root]: shown } }))
})

const run = (...args: readonly string[]): Promise<CommandAnswer> => runOn(metadata, ...args)
const runOn = (path: string, ...args: readonly string[]): Promise<CommandAnswer> =>
  runCommand([importCommand], ['import', 'hasura', path, ...args], {
    environment: { DATABASE_URL: db.url, DATABASE_OWNER_URL: db.ownerUrl, HASURA_GRAPHQL_ADMIN_SECRET: 'secret' },
  })

const write = (name: string, value: unknown): string => {
  writeFileSync(join(folder, name), JSON.stringify(value))
  return join(folder, name)
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'import-'))
  for (const name of names) {
    const found = await db.query(`select to_jsonb(t) as row from ${name} t`)
    rows = { ...rows, [name]: { rows: found.rows.map(({ row }) => row as Row), related: related[name] ?? {} } }
  }
  await new Promise<void>((resolve) => old.listen(0, '127.0.0.1', resolve))
})
afterAll(() => old.close())

const endpoint = (): string => `http://127.0.0.1:${(old.address() as AddressInfo).port}/v1/graphql`

describe('catalograph import hasura', () => {
  it('prints SQL that runs, each permission below its YAML, and lists what is not carried', async () => {
    const { exitCode, printed, noted } = await run()
    expect(noted).toBe(
      'catalograph: 2 names collide afterwards; catalograph annotate resolves them\ncatalograph: the SQL runs; nothing was changed',
    )
    expect(exitCode).toBe(0)
    expect(printed).toContain(
      '-- anonymous, select: { columns: [ id, name ], filter: {}, limit: 10 }\n' +
        'grant select ("id", "name") on "public"."org" to "anon";\n\n' +
        'create policy "hasura anonymous select" on "public"."org" for select to "anon" using (true);',
    )
    expect(printed).toContain('-- The admin of Hasura.\ngrant usage on schema "public" to service_role;')
    expect(printed).toContain(`'Work to do. @graphql({"defaultOrder":[{"id":"AscNullsLast"}],"preset":`)
    const [, left = ''] = printed.split('-- Not carried:\n')
    for (const line of [
      'table public.missing',
      'permission public.audit, manager, insert: it is for a back end alone',
      'permission public.audit, manager, select: the operator _soundslike',
      'permission public.open_task, user, select: row-level security is for tables alone',
      'table public.country: enum',
      'table public.task: event triggers notify',
      'table public.task: root fields select: allTasks',
      'table public.org: limit 10 of user',
      'table public.person: id, org_id of manager: granted',
      'policy old of public.audit is there already',
      'function public.gone',
      'inherited role staff',
      'actions (1) sendMail',
      'remote_schemas (1) weather',
      'cron_triggers (1) nightly',
      'introspection: not for anonymous',
      'source lake',
      'functions that Hasura did not track and that every role may execute (1) public.unlisted',
    ])
      expect(left).toContain(`-- * ${line}`)
    expect((await db.query(`select from pg_policies where policyname like 'hasura %'`)).rows).toEqual([])
  })

  it('keeps the rows of three roles, as the old server answers', async () => {
    const answer = await run(
      '--compare',
      write('callers.json', callers),
      '--endpoint',
      endpoint(),
      '--out',
      join(folder, 'import.sql'),
    )
    expect(answer).toMatchObject({ exitCode: 1, printed: '' })
    expect(answer.noted.split('\n').slice(2)).toEqual([
      expect.stringMatching(
        /^catalograph: user, public.open_task: 1 rows before, and refused after: permission denied/,
      ),
      expect.stringMatching(
        /^catalograph: user, public.open_task: 1 rows before, and refused after: permission denied/,
      ),
      expect.stringMatching(/^catalograph: manager, public.audit: 1 rows before, and refused after: permission denied/),
      'catalograph: 39 documents compared, 3 differ',
    ])
    expect(await readFile(join(folder, 'import.sql'), 'utf8')).toContain('create policy')
  })

  it('lists what differs by role and document, and fails', async () => {
    const documents = [
      {
        name: 'all is well',
        graphql: '{ OrganisationCollection: organisationCollection { edges { node { id } } } }',
        expected: [{ id: 1 }, { id: 2 }, { id: 3 }],
      },
      { name: 'a row is missing', sql: 'select id from project', expected: [{ id: 1 }] },
      { name: 'no right', sql: 'select secret from person', expected: [] },
    ]
    const { exitCode, noted } = await run('--compare', write('wrong.json', { role: 'anonymous', documents }))
    expect(exitCode).toBe(1)
    expect(noted).toContain('anonymous, a row is missing: 1 rows before, 3 after; after alone: {"id":4}')
    expect(noted).toContain('anonymous, no right: 0 rows before, and refused after: permission denied')
    expect(noted).not.toContain('all is well')
  })

  it('reads the older folder, and an exported file, as the same metadata', async () => {
    const tables = readdirSync(join(metadata, 'databases/default/tables'))
      .filter((name) => name !== 'tables.yaml')
      .map((name) => parse(readFileSync(join(metadata, 'databases/default/tables', name), 'utf8')) as unknown)
    const functions: unknown = parse(readFileSync(join(metadata, 'databases/default/functions/functions.yaml'), 'utf8'))
    mkdirSync(join(folder, 'older'))
    write('older/tables.yaml', tables)
    write('older/functions.yaml', functions)
    const source = { name: 'default', kind: 'postgres', tables, functions }
    const paths = [
      join(folder, 'older'),
      write('tables.json', { version: 2, tables, functions }),
      write('export.json', { resource_version: 1, metadata: { version: 3, sources: [source] } }),
    ]
    const statementsOf = ({ printed }: CommandAnswer): readonly string[] =>
      printed.split('-- Not carried:')[0]?.split('\n\n').toSorted() ?? []
    // Other files of the folder say these.
    const isOfTables = (line: string): boolean => !/"visitor"|relationFilters/.test(line)
    const expected = statementsOf(await run()).filter(isOfTables)
    for (const path of paths) expect(statementsOf(await runOn(path)).filter(isOfTables)).toEqual(expected)
  })

  it('names the statement that fails, and its object', async () => {
    await db
      .superuser('owns a table of others')
      .query('create table theirs (id int primary key); alter table theirs owner to postgres')
    const path = write('theirs.json', {
      tables: [
        { table: 'theirs', select_permissions: [{ role: 'user', permission: { columns: ['id'], filter: {} } }] },
      ],
    })
    const { exitCode, noted } = await runOn(path)
    expect([exitCode, noted]).toEqual([
      1,
      'catalograph: grant all on "public"."theirs" to service_role: permission denied for table theirs',
    ])
  })

  it('applies in one transaction, twice with the same result, and writes obey checks and presets', async () => {
    const invoices = {
      ...callers[3],
      documents: [
        { before: 'query { invoice { id total } }', graphql: '{ invoiceCollection { edges { node { id total } } } }' },
      ],
    }
    for (const turn of [1, 2]) {
      const { exitCode, noted } = await run(
        '--apply',
        '--compare',
        write('one.json', invoices),
        '--endpoint',
        endpoint(),
      )
      expect([turn, exitCode, noted]).toEqual([turn, 0, expect.stringContaining('statements applied')])
    }
    const asUser = async (number: number, sql: string): Promise<unknown> => {
      await db.queryAsLogin(
        `begin; set local role authenticated; select set_config('request.jwt.claims', '{"sub": "${user(number)}"}', true)`,
      )
      try {
        return (await db.queryAsLogin(sql)).rowCount
      } catch (error) {
        return String(error)
      } finally {
        await db.queryAsLogin('rollback')
      }
    }
    expect(await asUser(1, `insert into task (title, project_id, created_by) values ('new', 1, '${user(1)}')`)).toBe(1)
    expect(await asUser(3, `insert into task (title, project_id) values ('new', 1)`)).toContain('row-level security')
    expect(await asUser(2, `update task set state = 'done'`)).toBe(1)
    expect(await asUser(2, `update task set state = 'lost'`)).toContain('row-level security')
    expect(await asUser(2, `update task set estimate = 1`)).toContain('permission denied')
    expect(await asUser(2, 'delete from comment')).toBe(1)
    const { rows: comments } = await db.query(
      `select obj_description('task'::regclass) as task, obj_description(oid, 'pg_constraint') as key from pg_constraint where conname = 'task_parent_id_fkey'`,
    )
    expect(comments[0]?.key).toBe('@graphql({"foreign_name":"parent","local_name":"children"})')
    expect(comments[0]?.task).toContain('"preset":{"authenticated":{"created_by":{"insert":')
  })

  it.each([
    [
      'a role that two would be',
      ['--role', 'manager=anon'],
      'the roles anonymous and manager of the metadata would both be anon',
    ],
    [
      'a role that policies do not bind',
      ['--role', 'manager=service_role'],
      'would be service_role, which owns tables or bypasses row-level security here: name another with --role manager=NAME',
    ],
    ['a source that is not there', ['--source', 'sea'], 'has no source sea: default'],
    ['a form of --role', ['--role', 'x'], '--role takes OLD=NEW, not "x"'],
    ['a file of callers', ['--compare', 'none.json'], '--compare: none.json cannot be read (ENOENT)'],
  ])('refuses %s', async (_, args, message) => {
    const { exitCode, noted } = await run(...args)
    expect([exitCode, noted]).toEqual([2, expect.stringContaining(message)])
  })
})
