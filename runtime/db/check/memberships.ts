import type { RolePrivileges } from '../../contract/execution.ts'
import { literal } from '../../sql/literal.ts'
import type { Query } from '../connect/session.ts'

/** What proves whose privileges a role has, without asking for each role that holds something. */

/** True conditions of SQL mean that the role has those privileges that it was found with, and no others. */
export interface MembershipProof {
  readonly conditions: readonly string[]
}

export interface Memberships {
  /** The proof for a role's privileges; null: none is known, and it is looked for meanwhile. */
  readonly proofOf: (privileges: RolePrivileges | undefined) => MembershipProof | null
  /** Called where the proof may not hold any more: it is looked for again. */
  readonly forget: (privileges: RolePrivileges | undefined) => void
}

export const isSuperuser = (expected: boolean): string =>
  `pg_catalog.current_setting('is_superuser') = '${expected ? 'on' : 'off'}'`

/** @param role SQL of type name or oid */
export const hasRole = (role: string, held: boolean): string =>
  `${held ? '' : 'not '}pg_catalog.pg_has_role(${role}, 'USAGE')`

/** A role that the role is a member of, or itself. */
interface Reached {
  readonly oid: string
  readonly name: string
  /** Whether the role has its privileges. */
  readonly held: boolean
}

/**
 * Goes on from roles whose privileges the role has. Any role may become the database's owner, who is a member of
 * pg_database_owner without a row that says so.
 */
const readReached = `with recursive reached (oid) as (
    select r.oid from pg_roles r where r.rolname in ($1, 'pg_database_owner')
    union
    select m.roleid from reached join pg_auth_members m on m.member = reached.oid
    where pg_has_role($1::name, reached.oid, 'USAGE')
  )
  select r.oid::text, r.rolname as name, pg_has_role($1::name, r.oid, 'USAGE') as held,
    (select count(*)::int from pg_roles h where h.rolname = any($2::name[])) as existing
  from reached join pg_roles r on r.oid = reached.oid order by r.oid`

const is = ({ oid, name }: Reached): string => `pg_catalog.pg_get_userbyid(${oid}) = ${literal(name)}::name`

const listed = (roles: readonly Reached[]): string => roles.map(({ oid }) => oid).join(', ')

/**
 * The role has the privileges of all that are `held`, and of nobody else: it would have them by a membership of one of these. Each
 * membership of these is in a role that was reached, of which it has those that are held, and not the others. Since 16 a
 * membership says whether it inherits, and before that the member: pg_has_role knows either. Roles are told apart by
 * their ids, which are never given again while they exist, and have the names that they had.
 */
const conditionsOf = (role: string, reached: readonly Reached[]): readonly string[] => {
  const own = reached.filter(({ name }) => name === role)
  const others = reached.filter(({ name }) => name !== role)
  const held = others.filter((other) => other.held)
  return [
    isSuperuser(false),
    ...own.map(({ oid }) => `pg_catalog.pg_get_userbyid(${oid}) = current_user`),
    ...held.map(is),
    ...others.map((other) => hasRole(`${other.oid}::oid`, other.held)),
    `not exists (select from pg_catalog.pg_auth_members m where m.member in (${listed([...own, ...held])})
      and m.roleid not in (${listed(reached)}))`,
  ]
}

/**
 * Null where the privileges are not those that the roles of now give: a request asks for each then, and finds out. A holder that has
 * another name now holds something that no name stands for.
 */
const proofFor = (
  { role, superuser, holders, held }: RolePrivileges,
  reached: readonly (Reached & { readonly existing: number })[],
): MembershipProof | null => {
  const isHolder = new Set(holders)
  const has = reached.filter((other) => other.held && isHolder.has(other.name))
  const agrees = has.length === held.size && has.every(({ name }) => held.has(name))
  const isWhole = reached.some(({ name, existing }) => name === role && existing === holders.length)
  return agrees && isWhole && !superuser ? { conditions: conditionsOf(role, reached) } : null
}

interface Found {
  readonly proof: MembershipProof | null
  /** When it is looked for again. */
  readonly due: number
}

/** A request that only writes does not report that a proof failed. */
const lookAgainMs = 60_000
const lookForMissingMs = 1_000

/**
 * Looks for the proofs of the roles that ask, one at a time, since all roles ask at once after a change of the schema.
 * @param needsProof whether it is to be looked for
 * @param now the clock, in milliseconds
 */
export const createMemberships = (
  query: Query,
  needsProof: (privileges: RolePrivileges) => boolean,
  now: () => number,
): Memberships => {
  const found = new WeakMap<RolePrivileges, Found>()
  const wanted = new Set<RolePrivileges>()
  let looking = false

  const look = async (privileges: RolePrivileges): Promise<void> => {
    const { role, holders } = privileges
    const proof = await query<Reached & { existing: number }>(readReached, [role, holders], 'memberships').then(
      ({ rows }) => proofFor(privileges, rows),
      () => null,
    )
    found.set(privileges, { proof, due: now() + (proof === null ? lookForMissingMs : lookAgainMs) })
    wanted.delete(privileges)
  }
  const lookForAll = async (): Promise<void> => {
    looking = true
    // A Set's iterator also visits what is added meanwhile.
    for (const privileges of wanted) await look(privileges)
    looking = false
  }
  return {
    proofOf: (privileges) => {
      if (privileges === undefined || !needsProof(privileges)) return null
      const known = found.get(privileges)
      if (known !== undefined && now() < known.due) return known.proof
      wanted.add(privileges)
      if (!looking) void lookForAll()
      return known?.proof ?? null
    },
    forget: (privileges) => {
      if (privileges !== undefined) found.delete(privileges)
    },
  }
}
