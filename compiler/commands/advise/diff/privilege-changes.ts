import type { EntityFacts } from '../../../../runtime/contract/manifest.ts'
import type { RoleVisibility } from '../../../../runtime/engine/view.ts'
import { groupBy } from '../../../../runtime/lib/steps.ts'
import { nameObject } from '../../../catalog/catalog.ts'
import type { Query } from '../../../../runtime/db/connect/session.ts'
import type { ApiChange } from './change.ts'

/** Privileges of a role on served objects, in the terms of GRANT: `INSERT (title, body) ON TABLE public.posts`. */
export interface PrivilegeChanges {
  readonly gained: readonly string[]
  readonly lost: readonly string[]
}

/** Privileges that a role gained or lost; a schema does not show all of them. */
export function privilegeChanges(before: RoleVisibility, after: RoleVisibility): PrivilegeChanges {
  const [old, now] = [privilegesOf(before), privilegesOf(after)]
  return { gained: beyond(now, old), lost: beyond(old, now) }
}

interface Privilege {
  readonly name: string
  readonly on: string
  /** Null: on the whole object. */
  readonly column: string | null
}

function privilegesOf({ manifest, can }: RoleVisibility): readonly Privilege[] {
  const usable = manifest.schemas.filter(({ usage }) => can(usage)).map(({ name }) => name)
  const entities = manifest.entities.filter(({ schema }) => usable.includes(schema))
  const functions = [...manifest.functions, ...manifest.entities.flatMap(({ computed }) => computed)]
  return [
    ...usable.map((schema) => ({ name: 'USAGE', on: nameObject('SCHEMA', schema), column: null })),
    ...entities.flatMap((entity) => entityPrivileges(can, entity)),
    ...functions.flatMap((fn) =>
      usable.includes(fn.schema) && can(fn.execute)
        ? [{ name: 'EXECUTE', on: nameObject('FUNCTION', fn.schema, fn.function), column: null }]
        : [],
    ),
  ]
}

const ofTables = ['select', 'insert', 'update', 'delete'] as const
const ofColumns = ['select', 'insert', 'update'] as const

function entityPrivileges(
  can: RoleVisibility['can'],
  { schema, relation, grants, columns }: EntityFacts,
): readonly Privilege[] {
  const on = nameObject('TABLE', schema, relation)
  const privilege = (name: string, column: string | null): Privilege => ({ name: name.toUpperCase(), on, column })
  return [
    ...ofTables.filter((name) => can(grants[name])).map((name) => privilege(name, null)),
    ...ofColumns
      .filter((name) => !can(grants[name]))
      .flatMap((name) =>
        columns.filter((column) => can(column.grants[name])).map(({ column }) => privilege(name, column)),
      ),
  ]
}

/** Those that are not among the others, the columns of one privilege together. */
function beyond(all: readonly Privilege[], others: readonly Privilege[]): readonly string[] {
  const known = new Set(others.map((privilege) => JSON.stringify(privilege)))
  const rest = all.filter((privilege) => !known.has(JSON.stringify(privilege)))
  return [...groupBy(rest, ({ name, on, column }) => JSON.stringify([name, on, column === null]))].map(([, group]) => {
    const columns = group.flatMap(({ column }) => (column === null ? [] : [column]))
    return `${group[0]?.name}${columns.length === 0 ? '' : ` (${columns.join(', ')})`} ON ${group[0]?.on}`
  })
}

/** The policies of row-level security for each role, which no schema shows: by role, then by table. */
export type Policies = ReadonlyMap<string, ReadonlyMap<string, TablePolicies>>

/** Policies for the role, as text by name; null: row-level security is off, and every row is visible. */
type TablePolicies = ReadonlyMap<string, string> | null

interface PolicyRow {
  readonly role: string
  readonly table: string
  readonly secured: boolean
  readonly names: readonly string[]
  readonly texts: readonly string[]
}

/**
 * The tables on which a role has privileges. Roles that bypass row-level security, and owners that do not force it, are
 * left out (PostgreSQL manual, 5.9). With an empty search path the names in policies print the same before and after.
 */
const policiesText = `with path as materialized (select pg_catalog.set_config('search_path', '', true) as value)
  select r.rolname::pg_catalog.text as role, pg_catalog.format('%I.%I', n.nspname, c.relname) as "table",
    c.relrowsecurity as secured, p.names, p.texts
  from path cross join pg_catalog.pg_roles r
  cross join pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
  cross join lateral (
    select coalesce(pg_catalog.array_agg(pg_catalog.quote_ident(p.polname) order by p.polname), '{}') as names,
      coalesce(pg_catalog.array_agg(pg_catalog.concat(
        case when not p.polpermissive then 'restrictive, ' end, 'for ', case p.polcmd
          when 'r' then 'select' when 'a' then 'insert' when 'w' then 'update' when 'd' then 'delete' else 'all' end,
        ' using ' || case path.value when '' then pg_catalog.pg_get_expr(p.polqual, p.polrelid) end,
        ' with check ' || case path.value when '' then pg_catalog.pg_get_expr(p.polwithcheck, p.polrelid) end
        ) order by p.polname), '{}') as texts
    from pg_catalog.pg_policy p where p.polrelid = c.oid and exists (select from pg_catalog.unnest(p.polroles) o(oid)
      where case when o.oid = '0' then true else pg_catalog.pg_has_role(r.oid, o.oid, 'USAGE') end)
  ) p
  where r.rolname = any ($1::pg_catalog.text[]) and not r.rolsuper and not r.rolbypassrls
    and n.nspname = any ($2::pg_catalog.text[]) and c.relkind in ('r', 'p')
    and (c.relforcerowsecurity or not pg_catalog.pg_has_role(r.oid, c.relowner, 'USAGE'))
    and (pg_catalog.has_any_column_privilege(r.oid, c.oid, 'SELECT, INSERT, UPDATE')
      or pg_catalog.has_table_privilege(r.oid, c.oid, 'DELETE'))
  order by 1, 2`

/** Rejects with DatabaseFailure. */
export async function readPolicies(
  query: Query,
  roles: readonly string[],
  schemas: readonly string[],
): Promise<Policies> {
  const { rows } = await query<PolicyRow>(policiesText, [roles, schemas])
  const found = new Map<string, Map<string, TablePolicies>>()
  for (const { role, table, secured, names, texts } of rows) {
    const tables = found.get(role) ?? new Map<string, TablePolicies>()
    const policies = new Map(names.map((name, index) => [name, (texts[index] ?? '').replaceAll(/\s+/g, ' ')]))
    found.set(role, tables.set(table, secured ? policies : null))
  }
  return found
}

/** The changes for a role on tables that it could use before and still can. */
export function policyChanges(before: Policies, after: Policies, role: string): readonly ApiChange[] {
  return [...(before.get(role) ?? [])].flatMap(([table, old]) => {
    const now = after.get(role)?.get(table)
    return now === undefined ? [] : tableChanges(table, old, now)
  })
}

function tableChanges(table: string, old: TablePolicies, now: TablePolicies): readonly ApiChange[] {
  if (now === null)
    return old === null
      ? []
      : [change('ROW_SECURITY_OFF', `Row-level security of ${table} is off: every row is in reach.`)]
  if (old === null) {
    const left = now.size === 0 ? 'none is in reach' : `only rows of ${[...now.keys()].join(', ')} are in reach`
    return [change('ROW_SECURITY_ON', `Row-level security of ${table} is on: ${left}.`)]
  }
  return [...new Set([...old.keys(), ...now.keys()])].sort().flatMap((name) => {
    const [was, is] = [old.get(name), now.get(name)]
    if (was === is) return []
    if (is === undefined) return [change('POLICY_REMOVED', `Policy ${name} on ${table} was removed: ${was}`)]
    if (was === undefined) return [change('POLICY_ADDED', `Policy ${name} on ${table} was added: ${is}`)]
    return [change('POLICY_CHANGED', `Policy ${name} on ${table} is ${is}; it was ${was}`)]
  })
}

const change = (kind: string, description: string): ApiChange => ({ severity: 'dangerous', kind, description })
