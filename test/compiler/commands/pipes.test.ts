import { execFile, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { builtCli } from '../../support/built-cli.ts'
import { asRole, createDatabase, type TestDatabase } from '../../support/database.ts'
import { isWhole, leftToWhole } from '../../support/whole.ts'

/** More than a pipe takes at once (pipe(7)): 65,536 bytes. */
const pipeBytes = 65_536

/** Tables whose names and columns make long answers; columns of each want comments. */
const tables = Array.from({ length: 100 }, (_, number) => {
  const columns = ['one', 'two', 'three', 'four', 'five', 'six'].map(
    (name) => `"a column ${name} of a name with spaces" int`,
  )
  return `create table a_table_with_the_number_${number} (id int primary key, ${columns.join(', ')});`
}).join('\n')

interface Row {
  readonly args: readonly string[]
  readonly exitCode: number
  /** It prints more than a pipe takes, and the same each time. */
  readonly isLong?: true
}

/** Each command, with arguments that let it print something. */
const rows: Readonly<Record<string, Row>> = {
  start: { args: [], exitCode: 0 },
  create: { args: ['Not-a-name'], exitCode: 2 },
  dev: { args: ['--migrations', 'none'], exitCode: 2 },
  serve: { args: [], exitCode: 0 },
  doctor: { args: ['--json'], exitCode: 0 },
  prepare: { args: ['--sql'], exitCode: 0 },
  unprepare: { args: ['--sql'], exitCode: 0 },
  compile: { args: ['--dump', 'catalog'], exitCode: 0, isLong: true },
  report: { args: ['--json'], exitCode: 0, isLong: true },
  annotate: { args: [], exitCode: 0, isLong: true },
  import: { args: ['hasura', 'none'], exitCode: 2 },
  schema: { args: ['--role', 'service_role'], exitCode: 0, isLong: true },
  codegen: { args: ['--out', 'generated'], exitCode: 0 },
  diff: { args: ['--migration', 'more.sql', '--json'], exitCode: 0, isLong: true },
  cost: { args: ['--documents', 'typename.graphql', '--role', 'anon'], exitCode: 0 },
  policies: { args: [], exitCode: 0 },
  check: { args: ['--config', 'nowhere.json'], exitCode: 2 },
  verify: { args: ['--minutes', '0.01'], exitCode: 0 },
  keys: { args: [], exitCode: 0 },
  auth: { args: ['status'], exitCode: 0 },
  token: { args: ['--user', 'ada@example.com'], exitCode: 1 },
  mails: { args: ['--last', '200'], exitCode: 0, isLong: true },
  settings: { args: [], exitCode: 0 },
  completion: { args: ['bash'], exitCode: 0 },
  help: { args: [], exitCode: 0 },
  '--version': { args: [], exitCode: 0 },
  'no-such-command': { args: [], exitCode: 2 },
}

/** Commands that go on until they are stopped. */
const serving: ReadonlySet<string> = new Set(['start', 'serve'])

describe.skipIf(process.platform === 'win32')('the output of a command into a pipe', () => {
  let db: TestDatabase
  let folder: string

  beforeAll(async () => {
    db = await createDatabase({
      isolated: true,
      prepare: 'auth',
      sql: 'create role keeper login',
      superuser: 'has superusers, and objects of several owners',
    })
    await db.query(`alter schema public owner to keeper; grant anon, authenticated, service_role to keeper with admin option;
      grant select on all tables in schema catalograph_auth to keeper; grant usage on schema catalograph_auth to keeper`)
    await db.query(`set role keeper; ${tables}; grant usage on schema public to anon, service_role;
      grant all on all tables in schema public to anon, service_role; reset role`)
    await db.query(`insert into catalograph_auth.outbox (kind, recipient, subject, html)
      select 'recovery', 'a@example.com', 'Mail ' || n, repeat('<p>word</p>', 200) from generate_series(1, 200) n`)
    folder = await mkdtemp(join(tmpdir(), 'catalograph-pipes-'))
    await writeFile(join(folder, 'typename.graphql'), 'query Q { __typename }')
    // A superuser of this machine runs the server of `start` under an account of its own.
    await chmod(folder, 0o755)
    const columns = Array.from({ length: 8 }, (_, n) => `one_more_column_with_the_number_${n} int`)
    await writeFile(
      join(folder, 'more.sql'),
      Array.from(
        { length: 60 },
        (_, n) => `create table one_more_table_with_the_number_${n} (id int primary key, ${columns.join(', ')});`,
      )
        .concat('grant all on all tables in schema public to anon, authenticated;')
        .join('\n'),
    )
  })
  afterAll(async () => {
    await db?.drop()
    await rm(folder, { recursive: true, force: true })
  })

  interface Left {
    readonly exitCode: number
    readonly out: string
    readonly err: string
  }

  /** Runs `catalograph ARGS` in a shell, which says where its output goes: `> out`, `| cat > out`. */
  const inShell = async (args: readonly string[], whereTo: string): Promise<Left> => {
    for (const name of ['out', 'err', 'code']) await rm(join(folder, name), { force: true })
    const script = `{ "$@"; echo $? > code; } ${whereTo}`
    const keeper = asRole(db.ownerUrl, 'keeper')
    const env = {
      PATH: process.env['PATH'] ?? '',
      ...(args[0] === 'start' ? {} : { DATABASE_URL: db.url, DATABASE_OWNER_URL: keeper }),
      CATALOGRAPH_DATA: join(folder, 'data'),
      JWT_SECRET: 'a secret that has more than thirty-two characters',
      PORT: '0',
    }
    await new Promise<void>((resolve) => {
      const command = ['-c', script, 'sh', process.execPath, builtCli, ...args]
      execFile('sh', command, { cwd: folder, env, timeout: 100_000 }, () => resolve())
    })
    const read = async (name: string): Promise<string> =>
      existsSync(join(folder, name)) ? readFile(join(folder, name), 'utf8') : ''
    return { exitCode: Number.parseInt(await read('code'), 10), out: await read('out'), err: await read('err') }
  }

  it('is tried of every command', () => {
    const { stdout } = spawnSync(process.execPath, [builtCli, 'help'], { encoding: 'utf8' })
    const names = [...(/Commands:\n([^]*?)\n\n/.exec(stdout)?.[1] ?? '').matchAll(/^ {2}(\w+)/gm)].map(
      ([, name]) => name,
    )
    expect(Object.keys(rows)).toEqual(expect.arrayContaining(names))
    expect(names).toContain('serve')
  })

  const all = Object.entries(rows)
  // Every command prints through the same code, so that npm test asks some of each kind.
  const some: ReadonlySet<string> = new Set(['serve', 'schema', 'auth', 'mails', 'no-such-command'])
  const isLeft = (name: string): boolean => !isWhole && !some.has(name)
  it.for(all.filter(([, { isLong }]) => isLong === true))(
    'is whole for a reader of %s that is slow',
    { timeout: 60_000 },
    async ([name, { args, exitCode }], { skip }) => {
      skip(isLeft(name), leftToWhole)
      const whole = await inShell([name, ...args], '> out 2> err')
      const slow = await inShell([name, ...args], '2> err | { sleep 1; cat > out; }')
      expect([whole.exitCode, slow.exitCode, whole.out.length > pipeBytes]).toEqual([exitCode, exitCode, true])
      expect(slow.out.length).toBe(whole.out.length)
      if (name !== 'diff') expect(slow.out).toBe(whole.out)
    },
  )

  it.for(all)(
    'of %s ends quietly when its reader leaves',
    { timeout: 60_000 },
    async ([name, { args, exitCode }], { skip }) => {
      skip(isLeft(name), leftToWhole)
      // A serving command prints its log only.
      const errors = serving.has(name) ? '2>&1' : '2> err'
      const { exitCode: ended, err } = await inShell([name, ...args], `${errors} | true`)
      expect([ended, err]).toEqual([exitCode, expect.not.stringMatching(/EPIPE|^\s+at /m)])
    },
  )

  it('ends quietly when the reader of standard error leaves', async () => {
    const { exitCode, out } = await inShell(['no-such-command'], '2>&1 | true')
    expect([exitCode, out]).toEqual([2, ''])
  })

  it('is missed with a sentence and exit code 1 where it cannot be written', async () => {
    if (!existsSync('/dev/full')) return
    const { exitCode, err } = await inShell(['settings'], '> /dev/full 2> err')
    expect([exitCode, err]).toEqual([1, 'catalograph: standard output cannot be written: ENOSPC\n'])
  })
})
