import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { devCommand } from '../../../../compiler/commands/dev.ts'
import { applyOnce, loadMigrations } from '../../../../compiler/commands/create/migrate-once.ts'
import { secret } from '../../../support/auth.ts'
import { builtCli } from '../../../support/built-cli.ts'
import { runCommand } from '../../../support/command.ts'
import { createDatabase, type TestDatabase } from '../../../support/database.ts'
import { forSuite } from '../../../support/for-suite.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'catalograph-migrations-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
})

const write = (name: string, text: string): void => writeFileSync(join(folder, name), text)

describe('migrations', () => {
  const db = forSuite(createDatabase, {})
  const clear = (): Promise<unknown> =>
    db.query(
      'drop schema if exists catalograph_migrations cascade; drop table if exists public.one, public.schema_migrations',
    )
  beforeEach(clear)
  const apply = async (): Promise<readonly string[]> => applyOnce(db.ownerUrl, await loadMigrations(folder))
  const columns = async (): Promise<readonly string[]> =>
    (
      await db.query(
        "select attname from pg_attribute where attrelid = to_regclass('public.one') and attnum > 0 order by 1",
      )
    ).rows.map(({ attname }) => attname)

  it('are applied once, in the order of their names, also by several processes at once', async () => {
    write('2_b.sql', 'alter table one add b int;')
    write('1_a.sql', 'begin; create table one (a int); commit;')
    write('notes.txt', 'not SQL')
    const applied = await Promise.all([apply(), apply()])
    expect(applied.flat().toSorted()).toEqual(['1_a.sql', '2_b.sql'])
    expect(await columns()).toEqual(['a', 'b'])
    expect(await apply()).toEqual([])
    write('3_c.sql', 'alter table one add c int;')
    expect(await apply()).toEqual(['3_c.sql'])
  })

  it('of dbmate are applied without their way back', async () => {
    write('1.sql', '-- migrate:up\ncreate table one (a int);\n-- migrate:down\ndrop table one;\n')
    write('2.down.sql', 'drop table one;')
    expect(await apply()).toEqual(['1.sql'])
    expect(await columns()).toEqual(['a'])
  })

  it('are kept up to the one that fails, which is rolled back and named with its line', async () => {
    write('1.sql', 'create table one (a int);')
    write('2.sql', 'alter table one add b int;\n\nalter table two add c int;')
    await expect(apply()).rejects.toThrow(`${join(folder, '2.sql')}:3: relation "two" does not exist`)
    expect(await columns()).toEqual(['a'])
    write('2.sql', 'alter table one add b int;')
    expect(await apply()).toEqual(['2.sql'])
  })

  it('are refused together when one was changed after it was applied', async () => {
    write('2.sql', 'create table one (a int);')
    await apply()
    write('2.sql', 'create table one (a bigint);')
    write('1.sql', 'alter table one add b int;')
    await expect(apply()).rejects.toThrow(`${join(folder, '2.sql')} was changed after it was applied`)
    expect(await columns()).toEqual(['a'])
  })

  it('are left to the tool that keeps them', async () => {
    await db.query('create table public.schema_migrations (version text)')
    write('1.sql', 'create table one (a int);')
    await expect(apply()).rejects.toThrow('public.schema_migrations has the migrations of this database')
  })

  it.each([
    ['-- migrate:up transaction:false\ncreate index on one (a);', '1.sql:1: each migration is one transaction here'],
    ['-- +goose NO TRANSACTION\n-- +goose Up\nselect 1;', '1.sql:1: each migration is one transaction here'],
    ['\\copy one from rows', '\\copy is a command of psql that has no meaning here'],
    ['create table one (a int); rollback;', 'ROLLBACK would end the transaction'],
  ])('refuse %j', async (text, sentence) => {
    write('1.sql', text)
    await expect(apply()).rejects.toThrow(sentence)
    expect(await columns()).toEqual([])
  })
})

describe('catalograph dev', () => {
  const dev = (db: Pick<TestDatabase, 'url' | 'ownerUrl'>, ...args: readonly string[]) =>
    runCommand([devCommand], ['dev', '--migrations', folder, ...args], {
      environment: {
        DATABASE_URL: db.url,
        DATABASE_OWNER_URL: db.ownerUrl,
        JWT_SECRET: secret,
        PORT: '0',
        PATH: process.env['PATH'] ?? '',
      },
    })
  const table = (name: string): string =>
    `create table public.${name} (id int primary key);
     comment on table public.${name} is '@graphql({"name": "${name}", "live": {"enabled": true}})';
     grant select on public.${name} to authenticated;`

  it('applies migrations, serves, writes the client, follows new files, and ends with its command', async () => {
    // A superuser has made the event triggers, without which nothing is live.
    const db = await createDatabase({ isolated: true, prepare: true })
    onTestFinished(() => db.drop())
    write('1.sql', table('early'))
    const out = join(folder, 'db')
    const command = `curl -s -o ${folder}/answer "$PROJECT_URL/auth/v1/settings" -H "apikey: $ANON_KEY"
      grep -q live ${out}/tables/early.d.ts || exit 4
      mv ${folder}/late ${folder}/2.sql
      until [ -e ${out}/tables/late.js ]; do sleep 0.05; done
      exit 3`
    write('late', table('late'))
    const { exitCode, printed, noted } = await dev(db, '--client', out, '--run', command)
    expect(exitCode, noted).toBe(3)
    expect(printed).toMatch(/^GraphQL +http:\/\/127\.0\.0\.1:\d+\/graphql\/v1$/m)
    expect(noted).toMatch(/^Applied: 1\.sql$[^]*^Applied: 2\.sql$/m)
  })

  it('reads .env, and the environment before it', async () => {
    write('1.sql', table('early'))
    write('.env', 'PORT=none\nHOST_OF_MINE=x\nLOG_LEVEL=none\n')
    const env = { PATH: process.env['PATH'] ?? '', LOG_LEVEL: 'warn' }
    const ran = promisify(execFile)(process.execPath, [builtCli, 'dev', '--migrations', '.'], { cwd: folder, env })
    await expect(ran).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^catalograph: the settings are not usable:\n {2}PORT must be .*\n$/),
    })
  })

  it.each([
    [
      'no folder',
      () => rmSync(folder, { recursive: true }),
      'is no folder that can be read; a folder of migrations is expected',
    ],
    ['no file', () => mkdirSync(join(folder, 'more')), 'has no migrations'],
  ])('begins nothing with %s', async (_title, make, sentence) => {
    make()
    const none = 'postgres://nobody@127.0.0.1:1/none'
    expect(await dev({ url: none, ownerUrl: none })).toMatchObject({
      exitCode: 2,
      noted: expect.stringContaining(sentence),
    })
  })
})
