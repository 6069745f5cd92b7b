import type { CommandAccess, PoliciesAnswer } from './call.ts'

/** The rows that a role reaches with a command, by the rules of Postgres (manual, CREATE POLICY). Pure. */

type ShownPolicy = PoliciesAnswer['tables'][number]['policies'][number]

export type RowCommand = Exclude<ShownPolicy['command'], 'all'>
export type RolePolicy = Pick<ShownPolicy, 'command' | 'permissive' | 'using' | 'check'>

export interface RowPrivileges {
  readonly usage: boolean
  readonly select: boolean
  readonly insert: boolean
  readonly update: boolean
  readonly delete: boolean
  /** Row-level security applies to the role. */
  readonly restricted: boolean
  /** Those that concern the role. */
  readonly policies: readonly RolePolicy[]
}

type Reach =
  | Extract<CommandAccess, { readonly kind: 'no-grant' | 'no-policy' | 'new-rows' }>
  /** Rows that meet this SQL, of those that the role may select; null: all of these. */
  | { readonly kind: 'rows'; readonly condition: string | null }

/** The facts of a policy `p` (pg_policy), for json_build_object. */
export const policyRule = `'permissive', p.polpermissive, 'command', case p.polcmd
    when 'r' then 'select' when 'a' then 'insert' when 'w' then 'update' when 'd' then 'delete' else 'all' end,
  'using', pg_get_expr(p.polqual, p.polrelid), 'check', pg_get_expr(p.polwithcheck, p.polrelid)`

export function reachOf(privileges: RowPrivileges, command: RowCommand): Reach {
  const missing = neededFor(command).find((privilege) => !privileges[privilege])
  if (missing !== undefined) return { kind: 'no-grant', privilege: missing }
  const { restricted, policies } = privileges
  if (!restricted)
    return command === 'insert' ? { kind: 'new-rows', checked: false } : { kind: 'rows', condition: null }
  const condition = conditionOf(policies, command, command === 'insert' ? 'new' : 'old')
  if (condition === null) return { kind: 'no-policy' }
  if (command === 'insert') return { kind: 'new-rows', checked: true }
  // Those of a reading role apply to its count anyway.
  return { kind: 'rows', condition: command === 'select' ? null : condition }
}

/** Changed rows must be found. */
const neededFor = (command: RowCommand): readonly ('usage' | RowCommand)[] =>
  command === 'select' || command === 'insert' ? ['usage', command] : ['usage', 'select', command]

/** A row needs one permissive policy, and every restrictive one. Null: no policy allows the command. */
export function conditionOf(policies: readonly RolePolicy[], command: RowCommand, rows: 'old' | 'new'): string | null {
  const conditions = (permissive: boolean): readonly string[] =>
    policies.flatMap((policy) => {
      const condition = rows === 'old' ? policy.using : (policy.check ?? policy.using)
      const concerned = policy.permissive === permissive && [command, 'all'].includes(policy.command)
      return concerned && condition !== null ? [`(${condition})`] : []
    })
  const allowing = conditions(true)
  return allowing.length === 0 ? null : [`(${allowing.join(' or ')})`, ...conditions(false)].join(' and ')
}
