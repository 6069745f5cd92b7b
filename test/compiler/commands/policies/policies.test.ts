import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { policiesCommand } from '../../../../compiler/commands/policies.ts'
import { runCommand, type CommandAnswer } from '../../../support/command.ts'
import { createDatabase, type TestDatabase } from '../../../support/database.ts'
import { demoSql } from '../../../support/examples.ts'
import { forSuite } from '../../../support/for-suite.ts'
import { leftToWhole, isWhole } from '../../../support/whole.ts'

const [ada, ben] = ['00000000-0000-4000-8000-000000000001', '00000000-0000-4000-8000-000000000002']

/** Well made: every table has policies, and every write depends on the caller. */
const schema = `
  create table public.profile (id uuid primary key, name text not null, is_admin boolean not null default false);
  create table public.note (id int generated always as identity primary key, owner uuid not null default auth.uid(), body text, open boolean not null default false);
  create table public.log (id int primary key);
  alter table public.profile enable row level security;
  alter table public.note enable row level security;
  alter table public.log enable row level security;
  create policy read_profile on public.profile for select to anon, authenticated using (true);
  create policy own_profile on public.profile for update to authenticated using (id = (select auth.uid()));
  create policy read_note on public.note for select to anon, authenticated using (open or owner = (select auth.uid()));
  create policy add_note on public.note for insert to authenticated with check (owner = (select auth.uid()));
  create policy change_note on public.note for update to authenticated using (owner = (select auth.uid()));
  create policy drop_note on public.note for delete to authenticated using (owner = (select auth.uid()));
  create view public.open_note with (security_invoker = true) as select id, body from public.note where open;
  grant select on public.profile, public.note, public.open_note to anon, authenticated;
  grant update (name) on public.profile to authenticated;
  grant insert, update, delete on public.note to authenticated;
  grant select on public.log to service_role;
  insert into public.profile values ('${ada}', 'Ada'), ('${ben}', 'Ben');
  insert into public.note (owner, body, open) values ('${ada}', 'one', true), ('${ada}', 'two', false), ('${ben}', 'three', false)`

const actors = `| Actor | Role | Claims |
| --- | --- | --- |
| anon | anon | |
| ada | authenticated | \`{"sub": "${ada}"}\` |
| guest | authenticated | \`{"sub": "00000000-0000-4000-8000-000000000003", "is_anonymous": true}\` |
`

const profile = `
## public.profile

| Actor | select | update | update to |
| --- | --- | --- | --- |
| anon | all | no | no |
| ada, guest | all | \`id = auth.uid()\` (name) | same |
`

const note = `
## public.note

| Actor | select | insert | update | update to | delete |
| --- | --- | --- | --- | --- | --- |
| anon | \`open\` | no | no | no | no |
| ada, guest | \`open or owner = auth.uid()\` | \`owner = auth.uid()\` | \`owner = auth.uid()\` | same | \`owner = auth.uid()\` |
`

const openNote = `
## public.open_note

| Actor | select |
| --- | --- |
| anon, ada, guest | 1 row |
`

const wholeFile = actors + profile + note + openNote
const sqlBlock = (sql: string): string => `\n\`\`\`sql\n${sql}\n\`\`\`\n`

/** A table of rows that have owners, with a policy of these. */
const owned = (name: string, policy: string): readonly string[] => [
  `create table ${name} (id int primary key, owner uuid, open boolean)`,
  `alter table ${name} enable row level security`,
  `create policy own on ${name} for select to authenticated using (owner = auth.uid())`,
  `create policy p on ${name} ${policy}`,
  `grant select, update on ${name} to authenticated`,
]

const adminsOf = 'using (exists (select from profile a where a.id = auth.uid() and a.is_admin))'

const planted: Readonly<Record<string, readonly string[]>> = {
  'no-rls on public.bare': ['create table bare (id int)', 'grant select on bare to anon'],
  'anon-writes on public.form': [
    ...owned('form', 'for insert to anon with check (id > 0)'),
    'grant insert on form to anon',
  ],
  'open-write on public.wiki: p': [...owned('wiki', 'for update to authenticated using (true)')],
  'hand-over on public.gift: p': owned(
    'gift',
    'for update to authenticated using (owner = auth.uid()) with check (true)',
  ),
  'take-over on public.loot: p': owned(
    'loot',
    'for update to authenticated using (open) with check (owner = auth.uid())',
  ),
  'user-metadata on public.meta: p': owned(
    'meta',
    `for select to authenticated using (auth.jwt() -> 'user_metadata' ->> 'staff' = 'yes')`,
  ),
  'own-flag on public.flag: p': [
    'grant update (is_admin) on profile to authenticated',
    ...owned('flag', `for select to authenticated ${adminsOf}`),
  ],
  'own-flag on public.badge: p': [
    'create table member (uid uuid primary key, staff boolean)',
    'alter table member enable row level security',
    'create policy own on member to authenticated using ((select auth.uid()) = uid)',
    'grant select, update on member to authenticated',
    ...owned(
      'badge',
      'for select to authenticated using (exists (select from member m where auth.uid() = m.uid and m.staff))',
    ),
  ],
  'guests-pass on public.club: p': owned('club', 'for select to authenticated using (open)'),
  'open-function on public.all_notes()': [
    'create function all_notes() returns bigint language sql security definer as $$ select count(*) from note $$',
  ],
  'owner-view on public.every_note': [
    'create view inner_note as select * from note',
    'create view every_note as select * from inner_note',
    'grant select on every_note to authenticated',
  ],
  'outside-rls on public.kept': ['create materialized view kept as select * from note', 'grant all on kept to anon'],
  'nothing-visible on public.log': ['grant select on log to anon'],
  'unwritten on public.bare': [],
  'guests-pass on public.wiki: p': [],
}

const harmless: Readonly<Record<string, readonly string[]>> = {
  'the policies leave no way': [
    // A restrictive policy on the caller covers a weak check.
    'create policy p on note for update to authenticated using (owner = auth.uid()) with check (true)',
    'create policy r on note as restrictive for update to authenticated using (owner = auth.uid())',
    // The flag is not the caller's to change.
    `create policy a on note for select to authenticated ${adminsOf}`,
    `create policy g on note for select to authenticated using (not (auth.jwt() ->> 'is_anonymous')::boolean)`,
    'create function mine() returns bigint language sql security definer as $$ select count(*) from note $$',
    'revoke execute on function mine() from public',
    'create table bare (id int)',
    // A policy for all roles demands an account.
    'create policy u on note for update using (auth.uid() = owner)',
    'grant update on note to anon',
  ],
  'the columns of a policy cannot be changed': [
    'create policy p on note for update to authenticated using (owner = auth.uid()) with check (true)',
    'revoke update on note from authenticated',
    'grant update (body) on note to authenticated',
  ],
}

describe.skipIf(process.platform === 'win32')('catalograph policies', () => {
  let db: TestDatabase
  let folder: string
  beforeAll(async () => {
    db = await createDatabase({ prepare: 'auth', sql: schema })
    folder = await mkdtemp(join(tmpdir(), 'catalograph-policies-'))
  })
  afterAll(async () => {
    await db.drop()
    await rm(folder, { recursive: true, force: true })
  })

  const run = (args: readonly string[], url = db.ownerUrl): Promise<CommandAnswer> =>
    runCommand([policiesCommand], ['policies', ...args], { environment: { DATABASE_OWNER_URL: url } })
  const testFile = async (text: string, ...options: readonly string[]): Promise<CommandAnswer> => {
    const file = join(folder, 'policies.md')
    await writeFile(file, text)
    const answer = await run(['test', file, ...options])
    return { ...answer, printed: answer.printed.replaceAll(file, 'FILE'), noted: answer.noted.replaceAll(file, 'FILE') }
  }
  const holesIn = async (sql: string, more = ''): Promise<readonly string[]> => {
    const { holes } = JSON.parse((await testFile(wholeFile + sqlBlock(sql) + more, '--json')).printed) as {
      readonly holes: readonly { readonly hole: string; readonly on: string }[]
    }
    return holes.map(({ hole, on }) => `${hole} on ${on}`)
  }

  it('finds a file as written, and nothing else', async () => {
    const { exitCode, printed } = await testFile(wholeFile)
    expect(printed.split('\n')).toEqual([
      'public.note: update to could not be tried for guest, for lack of rows: insert some in the SQL of FILE',
      'public.profile: update to could not be tried for guest, for lack of rows: insert some in the SQL of FILE',
      '43 of 45 acts are as written, 2 were not tried',
    ])
    expect(exitCode).toBe(0)
  })

  it('prints a matrix that it finds as written, and prints it again from the file', async () => {
    const file = join(folder, 'matrix.md')
    expect(await run(['matrix', '--out', file])).toMatchObject({ exitCode: 0, printed: '' })
    const text = await readFile(file, 'utf8')
    expect(text).toContain('| user, guest | `open OR (owner = (select auth.uid()))` | `owner = (select auth.uid())` |')
    expect(text).toContain('| user, guest | all | no | `id = (select auth.uid())` (name) |')
    expect(await run(['test', file])).toMatchObject({ exitCode: 0 })
    expect(`${(await run(['matrix', file])).printed}\n`).toBe(text)
    expect((await run([])).printed).toBe(text.trimEnd())
  })

  it('names each cell that differs', async () => {
    const differing = [
      [
        '| ada, guest | `open or owner = auth.uid()` |',
        '| ada, guest | `owner = auth.uid()` |',
        'public.note: guest, select: `owner = auth.uid()` is written, but it also may with (1)',
      ],
      [
        '| `owner = auth.uid()` | same |',
        '| no | no |',
        'public.note: ada, update: no is written, but it also may with (1) (2)',
      ],
      [
        '| no | no | `owner = auth.uid()` |',
        '| no | no | all |',
        'public.note: ada, delete: all is written, but it may not with (3)',
      ],
      [
        '| no | no | no | no |',
        '| all | no | no | no |',
        'public.note: anon, insert: all is written, but it may not: insert is not granted',
      ],
      [
        '`id = auth.uid()` (name)',
        '`id = auth.uid()`',
        'public.profile: ada, update: `id = auth.uid()` is written, but it is limited to name',
      ],
      [
        '| anon | `open` |',
        '| anon | `opne` |',
        'public.note: anon, select: `opne` is written, but the condition fails: column "opne" does not exist',
      ],
      ['1 row', '2 rows', 'public.open_note: ada, select: 2 rows is written, but it may with 1 of 1 rows'],
    ] as const
    const text = differing.reduce((file, [cell, changed]) => file.replace(cell, changed), wholeFile)
    const { exitCode, printed } = await testFile(text)
    expect(printed.split('\n')).toEqual(expect.arrayContaining(differing.map(([, , sentence]) => sentence)))
    expect(exitCode).toBe(1)
  })

  it('tries with the rows of the file, and takes everything back', async () => {
    const rows = sqlBlock(`insert into note (owner, body) values ('${ada}', 'of the file')`)
    const { exitCode, printed } = await testFile((wholeFile + rows).replace('| anon | `open` |', '| anon | all |'))
    expect(printed).toMatch(/may not with \(2\) \(3\) \(\d+\)$/m)
    expect(exitCode).toBe(1)
    expect((await db.query('select count(*)::int from public.note')).rows).toEqual([{ count: 3 }])
    const { rows: members } = await db.query(
      `select from pg_auth_members m where m.member = 'owner'::regrole and m.roleid = 'anon'::regrole and m.grantor = m.member`,
    )
    expect(members).toEqual([])
  })

  it('takes the claims of a user from auth.users', async () => {
    const user = `insert into auth.users (id, email, role, aud) values ('${ben}', 'ben@example.com', 'authenticated', 'authenticated');`
    const text = wholeFile.replace(/\| ada \|.*/, '| ada | authenticated | ben@example.com |') + sqlBlock(user)
    expect(await testFile(text)).toMatchObject({ exitCode: 0 })
    expect(await testFile(text.replace('| ben@', '| bea@'))).toMatchObject({
      exitCode: 1,
      noted: expect.stringContaining('the actor ada is the user bea@example.com, whom auth.users does not have'),
    })
  })

  it('works as the login role, which may become the roles of the API', async () => {
    const file = join(folder, 'login.md')
    await writeFile(file, wholeFile.replace('| anon | anon | |', '| anon | anon | |\n| all | service_role | |'))
    await db.query('grant select on all tables in schema public to service_role')
    expect((await run(['test', file], db.url)).printed).toContain(
      'public.note: all, select: no is written, but it also may with (1) (2) (3)',
    )
    await db.query('revoke select on public.note, public.profile, public.open_note from service_role')
  })

  it.each([
    ['| Who | Role |', 'FILE:1: a table begins with actor | role | claims, or hole | on | reason, or actor'],
    [
      wholeFile.replace('ada, guest', 'ada, gues'),
      'there is no actor gues in the table of actors; did you mean guest?',
    ],
    [wholeFile.replace('| insert |', '| inset |'), 'there is no act "inset"; did you mean insert?; the acts are'],
    [wholeFile.replace('`open`', 'open'), 'FILE:18: "open" is not understood: write no, all'],
    [wholeFile.replace('| no | no | no | no |', '| no |'), 'FILE:18: 6 cells are expected, not 3'],
    [
      wholeFile.replace('## public.note', '## public.nite'),
      'the served schemas have no public.nite; did you mean public.note?',
    ],
    [
      `${wholeFile}\n| Hole | On | Reason |\n| --- | --- | --- |\n| no-rls | public.note | |`,
      'an accepted hole needs a reason',
    ],
    [wholeFile.replace('| anon | anon |', '| anon | anno |'), 'the database has no role anno; did you mean anon?'],
    [
      wholeFile + sqlBlock('insert into note (nope) values (1)'),
      'FILE:28: column "nope" of relation "note" does not exist',
    ],
    [wholeFile + sqlBlock('commit; select 1; rollback'), 'FILE:28: ROLLBACK would end the transaction'],
  ])('refuses a file that it does not understand, with the place: %#', async (text, sentence) => {
    const { exitCode, noted } = await testFile(text)
    expect(noted).toContain(sentence)
    expect(exitCode).toBeGreaterThan(0)
  })

  describe('holes', () => {
    const found = forSuite(async () => ({
      holes: await holesIn(Object.values(planted).flat().join(';')),
      stop: async () => undefined,
    }))

    it.each(Object.keys(planted))('include %s', (hole) => {
      expect(found.holes).toContain(hole)
    })

    it('include nothing else but tables that the file does not mention', () => {
      const others = found.holes.filter((hole) => !hole.startsWith('unwritten on ') && !(hole in planted))
      expect(others).toEqual([])
    })
  })

  it.each(Object.entries(harmless))('finds no hole where %s', async (_case, sql) => {
    expect(await holesIn(sql.join(';'))).toEqual([])
  })

  it('finds a role that bypasses row-level security', async () => {
    const file = join(folder, 'bypass.md')
    await writeFile(file, wholeFile + sqlBlock('alter role anon bypassrls'))
    const { url } = db.superuser('only a superuser gives that right; it is rolled back')
    expect((await run(['test', file], url)).printed).toContain(
      'bypasses-rls: anon: row-level security does not concern',
    )
  })

  it('accepts a hole with a reason, says which is not there, and how to write one down', async () => {
    const accepted = '\n| Hole | On | Reason |\n| --- | --- | --- |\n| no-rls | public.note | once |\n'
    expect((await testFile(wholeFile + accepted)).noted).toBe(
      'catalograph: FILE accepts no-rls on public.note, which is not there',
    )
    const { printed } = await testFile(
      wholeFile + sqlBlock('create table bare (id int primary key); grant select on bare to anon'),
    )
    expect(printed).toContain(
      'no-rls: public.bare: row-level security is off, and anon may select\n  alter table public.bare enable row level security;',
    )
    expect(printed).toContain('A hole that is meant gets a line in FILE: | hole | on | reason |')
  })

  it.skipIf(!isWhole)(`finds no hole in the demo (${isWhole ? 'whole' : leftToWhole})`, async () => {
    const demo = await createDatabase({ prepare: 'auth', sql: demoSql() })
    const { printed, noted } = await run(['matrix'], demo.ownerUrl)
    const file = join(folder, 'demo.md')
    await writeFile(file, printed)
    expect(noted).not.toContain('holes')
    expect(await run(['test', file], demo.ownerUrl)).toMatchObject({ exitCode: 0 })
    await demo.drop()
  })
})
