import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { checkCommand } from '../../../../compiler/commands/check.ts'
import { readMigrations } from '../../../../compiler/commands/migrations.ts'
import { runCommand, type CommandAnswer } from '../../../support/command.ts'
import { asRole, createDatabase, type TestDatabase } from '../../../support/database.ts'
import { isWhole, leftToWhole } from '../../../support/whole.ts'

const note = `create table note (id int primary key, owner uuid references auth.users, body text);
alter table note enable row level security;
create policy own on note to authenticated using (owner = auth.uid());
grant usage on schema public to authenticated;
grant select, insert on note to authenticated;
comment on schema public is '@graphql({"inflect_names": true, "introspection": true})';`

const second = `-- migrate:up
alter table note add column done boolean not null default false;

-- migrate:down
alter table note drop column done;
`

const listNotes = 'query Notes { noteCollection(first: 5) { edges { node { id body done } } } }'

const policies = `| Actor | Role | Claims |
| --- | --- | --- |
| ada | authenticated | \`{"sub": "00000000-0000-4000-8000-000000000001"}\` |

## public.note

| Actor | select | insert |
| --- | --- | --- |
| ada | \`owner = auth.uid()\` | \`owner = auth.uid()\` |
`

describe('catalograph check', () => {
  let db: TestDatabase
  let folder: string
  beforeAll(async () => {
    db = await createDatabase({ prepare: 'auth', sql: note })
    folder = await mkdtemp(join(tmpdir(), 'catalograph-workflow-'))
    await write('migrations/1_note.sql', `-- migrate:up\n${note}\n`)
    await write('migrations/2_done.sql', second)
    await write('seed.sql', 'insert into note (id) values (1)')
    await write('notes.graphql', listNotes)
    await write('policies.md', policies)
  })
  afterAll(async () => {
    await db.drop()
    await rm(folder, { recursive: true, force: true })
  })

  const path = (name: string): string => join(folder, name)
  const write = async (name: string, text: string): Promise<string> => {
    await mkdir(dirname(path(name)), { recursive: true })
    await writeFile(path(name), text)
    return path(name)
  }
  const environment = () => ({ DATABASE_URL: db.url, DATABASE_OWNER_URL: db.ownerUrl })
  const check = async (
    configuration: unknown,
    more: Readonly<Record<string, string>> = {},
    ...options: readonly string[]
  ): Promise<CommandAnswer> => {
    const file = await write('catalograph.json', JSON.stringify(configuration))
    const answer = await runCommand([checkCommand], ['check', '--config', file, ...options], {
      environment: { PATH: process.env['PATH'], ...environment(), ...more },
    })
    const plain = (text: string): string => text.replaceAll(`${folder}/`, '')
    return { ...answer, printed: plain(answer.printed), noted: plain(answer.noted) }
  }
  const everything = () => ({
    migrations: path('migrations'),
    seed: path('seed.sql'),
    diff: { against: '$PRODUCTION_URL', roles: ['authenticated', 'anon'] },
    cost: { documents: path('*.graphql'), role: 'authenticated', check: path('costs.json') },
    compile: { out: path('artifacts') },
    codegen: [
      { out: path('client'), role: 'authenticated' },
      { out: path('numbers'), role: 'authenticated', scalars: ['BigInt=bigint'] },
    ],
    policies: path('policies.md'),
  })

  it('runs every check on a database of the migrations, which it drops', async () => {
    const production = { PRODUCTION_URL: db.ownerUrl }
    expect((await check(everything(), production, '--write')).printed.split('\n')).toEqual([
      'migrations  ok',
      'cost        ok',
      'compile     ok',
      'codegen[0]  ok',
      'codegen[1]  ok',
    ])
    const { exitCode, printed, noted } = await check(everything(), production)
    expect(noted).toBe('')
    expect(printed.split('\n')).toEqual([
      'migrations  ok',
      'diff        ok',
      'cost        ok',
      'compile     ok',
      'codegen[0]  ok',
      'codegen[1]  ok',
      'policies    ok',
    ])
    expect(exitCode).toBe(0)
  })

  it('runs all of them though one fails, and prints the output of that one', async () => {
    await write('migrations/3_gone.sql', 'alter table note drop column body')
    const configuration = { ...everything(), compile: { out: path('nowhere') } }
    const { exitCode, printed, noted } = await check(configuration, { PRODUCTION_URL: db.ownerUrl })
    await rm(path('migrations/3_gone.sql'))
    expect(printed).toMatch(/^diff {8}failed\n {2}.*\n[^]*Note\.body was removed/m)
    expect(printed).toMatch(/^cost {8}failed\n {2}/m)
    expect(printed).toMatch(/^codegen\[0\] {2}failed\n/m)
    expect(printed).toMatch(/^compile {5}failed$[^]*^ {2}\.\.\. \d{3,} more lines \.\.\.$/m)
    expect(printed).toMatch(/^policies {4}ok$/m)
    const stale = 'cost, compile, codegen[0], codegen[1]'
    expect(noted).toBe(`catalograph: catalograph check --write makes these again: ${stale}`)
    expect(exitCode).toBe(1)
  })

  it('names file and line of a migration that fails, and runs nothing on it', async () => {
    await write('migrations/3_wrong.sql', 'select 1;\n\nalter table nte add column x int;')
    const { exitCode, printed } = await check({ migrations: path('migrations'), compile: { out: path('artifacts') } })
    await rm(path('migrations/3_wrong.sql'))
    expect(printed.split('\n')).toEqual([
      'migrations  failed',
      '  migrations/3_wrong.sql:3: relation "nte" does not exist',
      'compile     not run',
    ])
    expect(exitCode).toBe(1)
  })

  it('lets a command fill the database, whose URL it gets as DATABASE_URL, and drops it', async () => {
    const compile = { out: path('artifacts') }
    const { printed } = await check({ migrations: { command: 'echo "$DATABASE_URL"; exit 3' }, compile })
    const found = /ended with exit code 3:\n {2}postgres:\/\/owner@127\.0\.0\.1:\d+\/(catalograph_check_\w+)$/m.exec(
      printed,
    )
    const { rows } = await db.query('select count(*)::int from pg_database where datname = $1', [found?.[1]])
    expect([found === null, rows]).toEqual([false, [{ count: 0 }]])
  })

  it('checks the database of the environment where no migrations are named', async () => {
    const { exitCode, printed } = await check({ compile: { out: path('artifacts') } })
    expect(printed).toMatch(/^compile {5}failed\n/)
    expect(printed).toContain('is out of date; run catalograph compile')
    expect(exitCode).toBe(1)
  })

  it('says which right a role lacks to make databases', async () => {
    const login = asRole(db.ownerUrl, 'authenticator')
    const { exitCode, noted } = await check(
      { migrations: path('migrations'), compile: {} },
      { DATABASE_OWNER_URL: login },
    )
    expect(noted).toBe(
      'catalograph: no database can be made to check with: permission denied to create database: alter role "authenticator" createdb;',
    )
    expect(exitCode).toBe(1)
  })

  it.skipIf(!isWhole)(
    `starts a Postgres of its own without a database (${isWhole ? 'whole' : leftToWhole})`,
    async () => {
      const { codegen } = everything()
      const none = { DATABASE_URL: '', DATABASE_OWNER_URL: '' }
      const { exitCode, printed, noted } = await check({ migrations: path('migrations'), codegen: codegen[0] }, none)
      expect([exitCode, printed, noted]).toEqual([0, 'migrations  ok\ncodegen     ok', ''])
    },
  )

  it.each([
    [{ compil: {} }, 'compil: there is no such key; did you mean compile?; the keys are migrations, seed, auth, diff'],
    [{ codegen: { out: 'x', rol: 'anon' } }, 'codegen.rol: there is no such key; did you mean role?; the keys are'],
    [{ codegen: [{ out: 'x' }, { out: 3, hashes: 'yes' }] }, 'codegen[1].hashes: true or false is expected, not "yes"'],
    [{ cost: { documents: 'x' } }, 'cost.check: it is needed: A certificate to compare with.'],
    [{ diff: { against: '$NOWHERE_URL' } }, 'diff.against: the variable NOWHERE_URL of the environment is not set'],
    [{ policies: { file: 'x' } }, 'policies: a text is expected, not {"file":"x"}'],
    [{ compile: 'generated' }, 'compile: an object of options is expected, not "generated"'],
    [{ migrations: { comand: 'x' }, compile: {} }, 'migrations.comand: there is no such key; did you mean command?'],
    [{ migrations: 'x' }, 'no check is named; the checks are diff, cost, compile, codegen, policies, verify'],
    [{ auth: 'on', compile: {} }, 'auth: true or false is expected, not "on"'],
    [[], 'a JSON object is expected'],
  ])('refuses a configuration with the key and what is expected: %j', async (configuration, sentence) => {
    const { exitCode, noted } = await check(configuration)
    expect(noted).toContain(`catalograph: catalograph.json: ${sentence}`)
    expect(exitCode).toBe(2)
  })

  it('says which files are missing', async () => {
    const args = ['check', '--config', path('nowhere.json')]
    expect((await runCommand([checkCommand], args)).noted).toContain('it names the checks, for example {"compile"')
    expect((await check({ migrations: path('nowhere'), compile: {} })).printed).toContain(
      'nowhere is no folder that can be read; a folder of migrations is expected',
    )
  })

  describe('the reader of migrations', () => {
    const names = async (name: string): Promise<readonly string[]> =>
      (await readMigrations(path(name))).map(({ file, together }) => `${file.slice(path(name).length + 1)} ${together}`)

    it('takes what leads forward of files of dbmate, at its line', async () => {
      await write(
        'dbmate/1_a.sql',
        '-- migrate:down\ndrop table a;\n-- migrate:up transaction:false\ncreate table a ();\n',
      )
      await write('dbmate/2_b.sql', second)
      expect(await names('dbmate')).toEqual(['1_a.sql false', '2_b.sql true'])
      const [first] = await readMigrations(path('dbmate'))
      expect(first?.sql.split('\n')).toEqual(['', '', '-- migrate:up transaction:false', 'create table a ();', ''])
    })

    it.each([
      ['goose', '-- +goose Up\ncreate table a ();\n-- +goose Down\ndrop table a;', true],
      ['goose', '-- +goose NO TRANSACTION\n-- +goose Up\ncreate table a ();', false],
      ['sql-migrate', '-- +migrate Up notransaction\ncreate table a ();\n-- +migrate Down\ndrop table a;', false],
    ])('takes what leads forward of files of %s: %j', async (tool, text, together) => {
      await write(`${tool}/1.sql`, text)
      const [first] = await readMigrations(path(tool))
      expect(first?.sql.split('\n').filter((line) => line !== '' && !line.startsWith('--'))).toEqual([
        'create table a ();',
      ])
      expect(first?.together).toBe(together)
    })

    it('follows the journal of Drizzle', async () => {
      const entries = [{ tag: '0001_late' }, { tag: '0000_early' }]
      await write('drizzle/meta/_journal.json', JSON.stringify({ entries }))
      await write('drizzle/0000_early.sql', 'select 1;--> statement-breakpoint\nselect 2;')
      await expect(readMigrations(path('drizzle'))).rejects.toThrow('0001_late.sql cannot be read, and the journal')
      await write('drizzle/0001_late.sql', 'select 3')
      expect(await names('drizzle')).toEqual(['0001_late.sql true', '0000_early.sql true'])
    })

    it('takes folders of Prisma, and files of Atlas without those that lead back', async () => {
      await write('prisma/migration_lock.toml', '')
      await write('prisma/2_b/migration.sql', 'select 2')
      await write('prisma/1_a/migration.sql', 'select 1')
      expect(await names('prisma')).toEqual(['1_a/migration.sql true', '2_b/migration.sql true'])
      await write('atlas/atlas.sum', '')
      await write('atlas/2.sql', '-- atlas:txmode none\n\nselect 1')
      await write('atlas/1.down.sql', 'select 1')
      expect(await names('atlas')).toEqual(['2.sql false'])
      await expect(readMigrations(await write('empty/x', '').then(dirname))).rejects.toThrow('has no migrations')
    })
  })
})
