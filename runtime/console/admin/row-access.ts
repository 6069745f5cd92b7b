import type { RolePolicy, RowCommand, TablePrivileges } from './policies.ts'

/** The rows that a role reaches with a command, by the rules of Postgres (manual, CREATE POLICY). Pure. */

export type Privilege = RowCommand | 'usage'

export type Reach =
  /** The role lacks this privilege. */
  | { readonly kind: 'no-grant'; readonly privilege: Privilege }
  /** Row-level security applies, and no policy allows the command. */
  | { readonly kind: 'no-policy' }
  /** Rows that meet this SQL, of those that the role may select; null: all of these. */
  | { readonly kind: 'rows'; readonly condition: string | null }
  /** Every new row, or those that meet the check of a policy. */
  | { readonly kind: 'new-rows'; readonly checked: boolean }

export function reachOf(privileges: TablePrivileges, command: RowCommand): Reach {
  const missing = neededFor(command).find((privilege) => !privileges[privilege])
  if (missing !== undefined) return { kind: 'no-grant', privilege: missing }
  const { restricted, policies } = privileges
  if (command === 'insert') return restricted ? reachOfNew(policies) : { kind: 'new-rows', checked: false }
  return restricted ? reachOfOld(policies, command) : { kind: 'rows', condition: null }
}

/** Changed rows must be found. */
const neededFor = (command: RowCommand): readonly Privilege[] =>
  command === 'select' || command === 'insert' ? ['usage', command] : ['usage', 'select', command]

const concerning = (policies: readonly RolePolicy[], command: RowCommand): readonly RolePolicy[] =>
  policies.filter((policy) => policy.command === command || policy.command === 'all')

function reachOfNew(policies: readonly RolePolicy[]): Reach {
  const allows = concerning(policies, 'insert').some(
    ({ permissive, check, using }) => permissive && (check ?? using) !== null,
  )
  return allows ? { kind: 'new-rows', checked: true } : { kind: 'no-policy' }
}

/** A row needs one permissive policy, and every restrictive one. */
function reachOfOld(policies: readonly RolePolicy[], command: RowCommand): Reach {
  const about = concerning(policies, command)
  const [allowing, restricting] = [policyConditions(about, true), policyConditions(about, false)]
  if (allowing.length === 0) return { kind: 'no-policy' }
  // Those of a reading role apply to its count anyway.
  if (command === 'select') return { kind: 'rows', condition: null }
  return { kind: 'rows', condition: [`(${allowing.join(' or ')})`, ...restricting].join(' and ') }
}

const policyConditions = (policies: readonly RolePolicy[], permissive: boolean): readonly string[] =>
  policies.flatMap((policy) => (policy.permissive === permissive && policy.using !== null ? [`(${policy.using})`] : []))
