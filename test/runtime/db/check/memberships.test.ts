import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import type { Exchange, RolePrivileges } from '../../../../runtime/contract/execution.ts'
import { openDatabase, type Database } from '../../../../runtime/db/pool/pool.ts'
import { counterOf, versionExpression } from '../../../../runtime/db/check/version.ts'
import { createDatabase } from '../../../support/database.ts'
import { forSuite } from '../../../support/for-suite.ts'
import { lawMajors } from '../../../support/whole.ts'
import { openText } from '../../../support/open-text.ts'

/** So many that the statement does not name those that hold something (runtime/db/check/check.ts). */
const fillers = Array.from({ length: 40 }, (_, index) => `filler_${index}`)
const members = ['m0', 'm1', 'm2', 'm3', 'm4'] as const
/** Some of those that may become members of each other hold something, and others are only on the way. */
const few = ['m1', 'm3', 'pg_database_owner', 'pg_read_all_data']
const groups = [
  { many: 'few', holders: few },
  { many: 'many', holders: [...fillers, ...few].toSorted() },
]

const created = [...fillers, ...members].map((name) => `create role ${name} nologin; grant ${name} to authenticator;`)

/** Changes of roles; `member` and `group` are of `members`, `group` also of those that every server has. */
const changes = {
  grant: (member, group) => `grant ${group} to ${member}`,
  'grant, which inherits': (member, group, major) =>
    major >= 16 ? `grant ${group} to ${member} with inherit true` : `grant ${group} to ${member}`,
  'grant, which does not inherit': (member, group, major) =>
    major >= 16 ? `grant ${group} to ${member} with inherit false` : `alter role ${member} noinherit`,
  revoke: (member, group) => `revoke ${group} from ${member}`,
  inherit: (member) => `alter role ${member} inherit`,
  noinherit: (member) => `alter role ${member} noinherit`,
  superuser: (member) => `alter role ${member} superuser`,
  nosuperuser: (member) => `alter role ${member} nosuperuser`,
  owner: (member) => `do $$ begin execute format('alter database %I owner to ${member}', current_database()); end $$`,
  'no owner': () => `do $$ begin execute format('alter database %I owner to postgres', current_database()); end $$`,
  swap: (member, group) =>
    member === group || !group.startsWith('m')
      ? 'select'
      : `alter role ${member} rename to swapping; alter role ${group} rename to ${member}; alter role swapping rename to ${group}`,
  'drop owned': (member) => `drop owned by ${member}`,
  anew: (member) =>
    `reassign owned by ${member} to postgres; drop role ${member}; create role ${member} nologin; grant ${member} to authenticator`,
} satisfies Readonly<Record<string, (member: string, group: string, major: number) => string>>

const step = fc.record({
  kind: fc.constantFrom(...(Object.keys(changes) as (keyof typeof changes)[])),
  member: fc.constantFrom(...members),
  group: fc.constantFrom(...members, 'pg_read_all_data', 'filler_7'),
})
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

interface Asked extends Exchange {
  readonly version: string
  readonly privileges: RolePrivileges
}

/** The facts that must be unchanged for a request to be answered. */
const says = ({ version, privileges: { superuser, held } }: Asked): string =>
  JSON.stringify([counterOf(version), superuser, [...held].toSorted()])

/** Which roles a caller's role is a member of is compared with every request, since commands on roles fire no event trigger. */
describe.each(lawMajors())('memberships with PostgreSQL %i', (major) => {
  let db: Database
  const database = forSuite(createDatabase, {
    major,
    isolated: true,
    prepare: true,
    sql: created.join('\n'),
    superuser: 'has superusers, and objects of several owners',
  })
  const reset = (): Promise<unknown> =>
    database.query(`do $$ begin execute format('alter database %I owner to postgres', current_database()); end $$;
      ${members.map((name) => `drop role ${name}; create role ${name} nologin; grant ${name} to authenticator;`).join('')}`)
  beforeEach(async () => {
    // The law leaves its last roles behind.
    await reset()
    db = openDatabase({ url: database.url, schemas: ['public'], poolSize: 1 })
  })
  afterEach(() => db.close())

  /** As the compiler reads them, and as Postgres decides them. */
  const privilegesNow = async (role: string, holders: readonly string[]): Promise<RolePrivileges> => {
    const { rows } = await database.query(
      `select r.rolsuper as superuser, array(select h from unnest($2::text[]) h where pg_has_role(r.rolname, h::name, 'USAGE')) as held
       from pg_roles r where r.rolname = $1`,
      [role, holders],
    )
    const { superuser, held } = rows[0] as { readonly superuser: boolean; readonly held: readonly string[] }
    return { role, superuser, holders, held: new Set(held) }
  }
  const request = async (role: string, holders: readonly string[], readOnly = true): Promise<Asked> => ({
    caller: { role, claims: `{"role":"${role}"}` },
    version: (await database.query(`select ${versionExpression} as v`)).rows[0].v,
    privileges: await privilegesNow(role, holders),
    readOnly,
    statements: [{ name: `test one ${role}`, text: openText('select 1 as r'), values: [], carriesCheck: true }],
  })
  const once = (exchange: Exchange): Promise<string> =>
    db.run(exchange).then(
      () => 'answered',
      (error: { readonly kind?: string }) => error.kind ?? String(error),
    )
  /** A mark that has changed is one reason to be outdated, and is compared no more then. */
  const outcome = async (exchange: Exchange): Promise<string> => {
    const first = await once(exchange)
    return first === 'stale' ? once(exchange) : first
  }
  const answered = async (exchange: Exchange): Promise<void> => expect(await outcome(exchange)).toBe('answered')
  const inherit = major >= 16 ? ' with inherit true' : ''

  describe.each(groups)('where $many roles hold privileges', ({ holders }) => {
    test.each([
      ['a membership that is granted', 'grant m1 to m0', 'revoke m1 from m0'],
      [
        'one by way of a role that holds nothing',
        'grant m2 to m0; grant m1 to m2',
        'revoke m2 from m0; revoke m1 from m2',
      ],
      ['the database', 'alter database %I owner to m0', 'alter database %I owner to postgres'],
      ['superuser', 'alter role m0 superuser', 'alter role m0 nosuperuser'],
    ])('%s is noticed by the next request, and what takes it back', async (_, change, back) => {
      const run = (sql: string) =>
        database.query(
          `do $do$ begin execute format($$${sql.replace(/(grant \w+ to \w+)/g, `$1${inherit}`)}$$, current_database()); end $do$`,
        )
      const before = await request('m0', holders)
      await answered(before)
      await run(change)
      onTestFinished(async () => void (await run(back)))
      expect(await outcome(before)).toBe('stale')
      const after = await request('m0', holders)
      await answered(after)
      await run(back)
      expect(await outcome(after)).toBe('stale')
      await answered(before)
    })

    test('a request that writes compares them as well', async () => {
      const exchange = await request('m0', holders, false)
      expect(await once(exchange)).toBe('answered')
      await database.query(`grant m1 to m0${inherit}`)
      expect(await once(exchange)).toBe('stale')
      await database.query('revoke m1 from m0')
      expect(await once(exchange)).toBe('answered')
    })

    test('a request is answered exactly as long as its role has the privileges of the same holders', async () => {
      const seed = Number(process.env['FC_SEED'] ?? Date.now() % 1e9)
      const known = { answered: 0, stale: 0 }
      const law = fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps: readonly Step[]) => {
        await reset()
        const exchanges = new Map<string, Asked>()
        for (const role of members) exchanges.set(role, await request(role, holders))
        for (const exchange of exchanges.values()) await answered(exchange)
        for (const { kind, member, group } of steps) {
          // Circles, and what a role does not hold, are refused and change nothing.
          await database.query(changes[kind](member, group, major)).catch(() => undefined)
          for (const [role, exchange] of exchanges) {
            const now = await request(role, holders)
            const isSame = says(now) === says(exchange)
            const found = await outcome(exchange)
            expect([kind, member, group, role, found]).toEqual([
              kind,
              member,
              group,
              role,
              isSame ? 'answered' : 'stale',
            ])
            known[isSame ? 'answered' : 'stale'] += 1
            if (!isSame) exchanges.set(role, now)
          }
        }
      })
      await fc.assert(law, { seed, numRuns: 10, endOnFailure: true })
      expect(known.answered).toBeGreaterThan(100)
      expect(known.stale).toBeGreaterThan(10)
    })
  })
})
