import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Act, type RowsCell, acts, readExpectations } from '../../../../compiler/commands/policies/expectations.ts'
import { policiesCommand } from '../../../../compiler/commands/policies.ts'
import { runCommand } from '../../../support/command.ts'
import { createDatabase, type TestDatabase } from '../../../support/database.ts'
import { lawMajors, sized } from '../../../support/whole.ts'

const me = '00000000-0000-4000-8000-00000000000b'
const other = '00000000-0000-4000-8000-000000000001'

const conditions = [
  'true',
  'false',
  'open',
  'not open',
  'owner = auth.uid()',
  'open or owner = auth.uid()',
  'id > 2',
] as const
const condition = fc.constantFrom(...conditions)
const role = fc.constantFrom('public', 'anon', 'authenticated')

/** The clauses that each command takes (manual, CREATE POLICY). */
const policy = fc.record({
  command: fc.constantFrom('select', 'insert', 'update', 'delete', 'all'),
  permissive: fc.integer({ min: 0, max: 2 }).map((drawn) => drawn > 0),
  to: role,
  using: condition,
  check: fc.option(condition),
})
const grants = fc.subarray(['select', 'insert', 'update', 'delete'], { minLength: 1 })
const table = fc.record({
  secured: fc.integer({ min: 0, max: 5 }).map((drawn) => drawn > 0),
  policies: fc.array(policy, { minLength: 2, maxLength: 8 }),
  anon: grants,
  authenticated: grants,
})
type DrawnTable = typeof table extends fc.Arbitrary<infer T> ? T : never

function ddlOf({ secured, policies, ...granted }: DrawnTable): string {
  const policySql = policies.map(({ command, permissive, to, using, check }, index) => {
    const old = command === 'insert' ? '' : ` using (${using})`
    const fresh =
      command === 'insert' ? ` with check (${check ?? using})` : check === null ? '' : ` with check (${check})`
    const checks = command === 'select' || command === 'delete' ? '' : fresh
    return `create policy p${index} on drawn as ${permissive ? 'permissive' : 'restrictive'} for ${command} to ${to}${old}${checks};`
  })
  return `drop table if exists drawn;
    create table drawn (id int primary key, owner uuid, open boolean);
    insert into drawn values (1, '${me}', true), (2, '${me}', false), (3, '${other}', true), (4, '${other}', false), (5, null, true);
    ${secured ? 'alter table drawn enable row level security;' : ''} ${policySql.join('\n')}
    grant ${granted.anon.join(', ')} on drawn to anon; grant ${granted.authenticated.join(', ')} on drawn to authenticated`
}

const ids = [1, 2, 3, 4, 5]
const callers = [
  { actor: 'anon', role: 'anon', claims: { role: 'anon' } },
  { actor: 'user', role: 'authenticated', claims: { role: 'authenticated', sub: me } },
]
type Claims = (typeof callers)[number]

describe.each(lawMajors())('the matrix on PostgreSQL %i', (major) => {
  let db: TestDatabase
  let folder: string
  beforeAll(async () => {
    db = await createDatabase({ major, prepare: 'auth' })
    folder = await mkdtemp(join(tmpdir(), 'catalograph-law-'))
  })
  afterAll(async () => {
    await db.drop()
    await rm(folder, { recursive: true, force: true })
  })

  /** Ids that a statement of the caller gives, or counts as changed; none if it is refused. */
  const asCaller = async ({ role: name, claims }: Claims, sql: string): Promise<readonly number[]> => {
    const query = db.queryAsLogin
    await query('begin')
    try {
      await query(`select set_config('request.jwt.claims', $1, true)`, [JSON.stringify(claims)])
      await query(`set local role ${name}`)
      return (await query(sql)).rows.map(({ id }: { readonly id: number }) => id)
    } catch {
      return []
    } finally {
      await query('rollback')
    }
  }

  /** Whether it is let in by policies; it may violate the key. */
  const isLetIn = async ({ role: name, claims }: Claims, sql: string): Promise<boolean> => {
    const query = db.queryAsLogin
    await query('begin')
    try {
      await query(`select set_config('request.jwt.claims', $1, true)`, [JSON.stringify(claims)])
      await query(`set local role ${name}`)
      return (await query(sql)).rowCount === 1
    } catch (error) {
      return (error as { readonly code?: string }).code === '23505'
    } finally {
      await query('rollback')
    }
  }

  const filtered = async (test: (id: number) => Promise<boolean>): Promise<readonly number[]> => {
    const found: number[] = []
    for (const id of ids) if (await test(id)) found.push(id)
    return found
  }

  /** Rows of the table; the values of row N are those of its key, taken from the owner. */
  const direct = async (caller: Claims): Promise<Readonly<Record<Act, readonly number[]>>> => {
    const { rows } = await db.query('select id, owner, open from drawn order by id')
    const valuesOf = (id: number): string => {
      const { owner, open } = rows[id - 1]
      return `${id}, ${owner === null ? 'null' : `'${owner}'`}, ${open}`
    }
    const setTo = (from: number, to: number): string =>
      `update drawn set (id, owner, open) = row(${valuesOf(to)}) where id = ${from}`
    const select = await asCaller(caller, 'select id from drawn')
    const update = await asCaller(caller, 'select id from drawn for update')
    const [from] = update
    return {
      select,
      update,
      insert: await filtered((id) => isLetIn(caller, `insert into drawn values (${valuesOf(id)})`)),
      'update to': from === undefined ? [] : await filtered((id) => isLetIn(caller, setTo(from, id))),
      delete: await filtered((id) => isLetIn(caller, `delete from drawn where id = ${id}`)),
    }
  }

  /** As the owner, to whom no policy applies. */
  const idsOf = async ({ rows }: RowsCell, { claims }: Claims): Promise<readonly number[]> => {
    if (rows === 'no') return []
    if (rows === 'all') return ids
    if ('count' in rows) throw new Error('Each drawn condition can be written down.')
    await db.query(`select set_config('request.jwt.claims', $1, false)`, [JSON.stringify(claims)])
    return (await db.query(`select id from drawn where ${rows.sql} order by id`)).rows.map(({ id }) => id)
  }

  it('law: its cells are what direct queries of the roles reach', async () => {
    const file = join(folder, 'drawn.md')
    const run = (...args: readonly string[]) =>
      runCommand([policiesCommand], ['policies', ...args], { environment: { DATABASE_OWNER_URL: db.ownerUrl } })
    await fc.assert(
      fc.asyncProperty(table, async (drawn) => {
        await db.query(ddlOf(drawn))
        expect(await run('matrix', '--out', file)).toMatchObject({ exitCode: 0 })
        const { sections } = readExpectations(file, await readFile(file, 'utf8'))
        for (const caller of callers) {
          const cells = sections[0]?.rows.find(({ actors }) => actors.includes(caller.actor))?.cells
          const reached = await direct(caller)
          for (const act of acts) {
            const meant = await idsOf(cells?.[act] ?? { rows: 'no', columns: null }, caller)
            if (act === 'update to' && reached.update.length === 0) continue
            expect([caller.actor, act, reached[act].toSorted()]).toEqual([caller.actor, act, meant])
          }
        }
        const { differing } = JSON.parse((await run('test', file, '--json')).printed)
        expect(differing).toEqual([])
      }),
      { numRuns: sized(150, 15) },
    )
  }, 120_000)
})
