import { mkdtemp, readdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { compileCommand } from '../../compiler/commands/compile.ts'
import { runCommand } from '../support/command.ts'
import { serveCommand } from '../../compiler/commands/serve.ts'
import { createDatabase } from '../support/database.ts'
import { forSuite } from '../support/for-suite.ts'

let out: string
const db = forSuite(createDatabase, {
  sql: 'create table notes (id int primary key); create table tasks (id int primary key)',
})
beforeAll(async () => {
  out = await mkdtemp(join(tmpdir(), 'catalograph-compile-'))
})

type Environment = Readonly<Record<string, string>>

/** Never asks it to stop. */
const endless = (args: readonly string[], environment: Environment) =>
  run(args, environment, new Promise(() => undefined))

const run = (
  args: readonly string[],
  environment: Environment = { DATABASE_URL: db.url },
  stop: Promise<string> = Promise.resolve('the test'),
) => runCommand([compileCommand, serveCommand], args, { environment, stop })

describe('catalograph compile', () => {
  it('writes artifacts, finds them up to date, and shows what a schema change would change', async () => {
    expect((await run(['compile', '--out', out, '--check'])).exitCode).toBe(1)
    const written = await run(['compile', '--out', out])
    expect(written).toMatchObject({ exitCode: 0, printed: expect.stringMatching(/\/[0-9a-f]{16}$/) })
    expect(await readdir(out)).toContain('current.json')
    expect(await run(['compile', '--out', out, '--check'])).toMatchObject({ exitCode: 0, printed: '' })

    await db.query('alter table notes add column body text')
    const checked = await run(['compile', '--out', out, '--check'])
    expect(checked.exitCode).toBe(1)
    expect(checked.printed).toContain('entities/public.notes.cjs (changed)')
    expect(checked.printed).not.toContain('public.tasks.cjs')
    expect(checked.noted).toContain('is out of date')
  })

  it.each(['compile', 'serve'])('%s refuses a schema that is not there, with the nearest name', async (command) => {
    const environment = { DATABASE_URL: db.url, JWT_SECRET: 'a'.repeat(32), PORT: '0' }
    const near = await endless([command], { ...environment, DB_SCHEMAS: 'publik' })
    expect(near.exitCode).toBe(1)
    expect(near.noted).toMatch(/DB_SCHEMAS names the schema "publik", which does not exist; did you mean "public"\?$/)
    const far = await endless([command], { ...environment, DB_SCHEMAS: 'public,somewhere_else' })
    expect(far.noted).toMatch(/the schema "somewhere_else", which does not exist$/)
  })

  it('writes nothing to the database', async () => {
    await run(['compile', '--out', out])
    const { rows } = await db.query(
      "select count(*)::int as n from pg_namespace where nspname in ('catalograph', 'auth')",
    )
    expect(rows).toEqual([{ n: 0 }])
  })

  it.each(['catalog', 'annotated', 'model', 'artifacts'])('--dump %s prints JSON', async (stage) => {
    const { exitCode, printed } = await run(['compile', '--dump', stage])
    expect(exitCode).toBe(0)
    expect(Object.keys(JSON.parse(printed) as object).length).toBeGreaterThan(0)
  })

  it('refuses other stages and a missing or unreachable database', async () => {
    expect(await run(['compile', '--dump', 'sql'])).toMatchObject({ exitCode: 2 })
    expect(await run(['compile'], {})).toMatchObject({ exitCode: 1, noted: expect.stringContaining('DATABASE_URL') })
    const unreachable = await run(['compile'], { DATABASE_URL: 'postgres://someone:hunter2@127.0.0.1:1/none' })
    expect(unreachable.exitCode).toBe(1)
    expect(unreachable.noted).not.toMatch(/hunter2|at .*\.ts/)
  })

  it('fails and writes nothing when a comment makes every request fail', async () => {
    const fresh = await mkdtemp(join(tmpdir(), 'catalograph-compile-'))
    await db.query("comment on table tasks is '@graphql({broken})'")
    const failed = await run(['compile', '--out', fresh])
    expect(failed).toMatchObject({ exitCode: 1, noted: expect.stringContaining('error:') })
    expect(await readdir(fresh)).toEqual([])
    await db.query('comment on table tasks is null')
  })
})

describe('catalograph serve', () => {
  const jwt = { JWT_SECRET: 'a secret that has more than thirty-two characters' }

  it('starts on artifacts alone and stops when asked', async () => {
    await run(['compile', '--out', out])
    const served = await run(['serve', '--artifacts', out], { ...jwt, DATABASE_URL: db.url, PORT: '0' })
    expect(served.exitCode).toBe(0)
    expect(served.noted.split('\n').map((line) => (JSON.parse(line) as { event: string }).event)).toEqual(
      expect.arrayContaining(['listening', 'stopping', 'stopped']),
    )
  })

  it('says in one sentence what it lacks', async () => {
    const bare = await run(['serve'], {})
    expect(bare).toMatchObject({ exitCode: 1, noted: expect.stringMatching(/DATABASE_URL: [^]*JWT_SECRET: /) })
    const nowhere = await run(['serve', '--artifacts', '/nowhere'], { ...jwt, DATABASE_URL: db.url })
    expect(nowhere).toMatchObject({ exitCode: 1, noted: expect.stringContaining('/nowhere/current.json') })
  })
})
