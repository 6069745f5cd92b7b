import type { Query } from '../../../../runtime/db/connect/session.ts'
import { isHook, type RoleSetting, type RoleUse, type SupabaseProject } from './project.ts'

const ours = `n.nspname !~ '^pg_' and n.nspname <> 'information_schema'`

const rolesSql = `select distinct role::text as role, use from (
    select pg_catalog.unnest(roles), 'policies' from pg_catalog.pg_policies
    union all select pg_catalog.pg_get_userbyid(c.relowner), 'owners' from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace where ${ours}
    union all select pg_catalog.pg_get_userbyid(a.grantee), 'grants' from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace,
      pg_catalog.aclexplode(c.relacl) a where a.grantee <> 0 and ${ours}
    union all select pg_catalog.pg_get_userbyid(a.grantee), 'grants' from pg_catalog.pg_proc p join pg_catalog.pg_namespace n on n.oid = p.pronamespace,
      pg_catalog.aclexplode(p.proacl) a where a.grantee <> 0 and ${ours}
    union all select pg_catalog.pg_get_userbyid(a.grantee), 'grants' from pg_catalog.pg_namespace n, pg_catalog.aclexplode(n.nspacl) a where a.grantee <> 0 and ${ours}
  ) named (role, use) where role <> 'public' order by 1, 2`

const settingsSql = `select r.rolname::text as role, pg_catalog.split_part(one, '=', 1) as name, pg_catalog.substr(one, pg_catalog.strpos(one, '=') + 1) as value
  from pg_catalog.pg_db_role_setting s join pg_catalog.pg_roles r on r.oid = s.setrole, pg_catalog.unnest(s.setconfig) one order by 1, 2`

const functionsSql = `select n.nspname::text || '.' || p.proname as name, p.proname::text as bare, pg_catalog.pg_get_function_identity_arguments(p.oid) as args
  from pg_catalog.pg_proc p join pg_catalog.pg_namespace n on n.oid = p.pronamespace where p.proname ~ 'hook' and ${ours} order by 1`

const webhooksSql = `select distinct t.tgname::text as name from pg_catalog.pg_trigger t join pg_catalog.pg_proc p on p.oid = t.tgfoid
  join pg_catalog.pg_namespace n on n.oid = p.pronamespace where n.nspname in ('supabase_functions', 'net') order by 1`

/** Reads the project from its own database. Rejects with DatabaseFailure. */
export async function projectOfDatabase(query: Query): Promise<SupabaseProject> {
  const names = async (sql: string): Promise<readonly string[]> =>
    (await query<{ readonly name: string }>(sql)).rows.map(({ name }) => name)
  /** Of a table of an extension or a service, which may be absent, or hidden from this role. */
  const listed = async (table: string, expression: string): Promise<readonly string[]> => {
    const { rows } = await query<{ readonly is: boolean }>(
      `select coalesce(pg_catalog.has_table_privilege(pg_catalog.to_regclass($1), 'select'), false) as is`,
      [table],
    )
    return rows[0]?.is === true ? names(`select (${expression})::text as name from ${table} order by 1`) : []
  }
  const roles = new Map<string, Set<RoleUse>>()
  for (const { role, use } of (await query<{ readonly role: string; readonly use: RoleUse }>(rolesSql)).rows)
    roles.set(role, (roles.get(role) ?? new Set()).add(use))
  const providers = new Map<string, number>()
  for (const provider of await listed('auth.identities', 'provider'))
    providers.set(provider, (providers.get(provider) ?? 0) + 1)
  const functions = (await query<{ readonly name: string; readonly bare: string; readonly args: string }>(functionsSql))
    .rows
  return {
    roles,
    roleSettings: (await query<RoleSetting>(settingsSql)).rows,
    extensions: await names(
      `select extname::text as name from pg_catalog.pg_extension where extname <> 'plpgsql' order by 1`,
    ),
    authTables: await names(
      `select 'auth.' || tablename as name from pg_catalog.pg_tables where schemaname = 'auth' order by 1`,
    ),
    users: (await listed('auth.users', '1')).length,
    providers,
    hooks: functions.filter(({ bare, args }) => isHook(bare, args)).map(({ name }) => name),
    buckets: await listed('storage.buckets', 'id'),
    realtime: await names(
      `select schemaname || '.' || tablename as name from pg_catalog.pg_publication_tables where pubname = 'supabase_realtime' order by 1`,
    ),
    webhooks: await names(webhooksSql),
    cronJobs: await listed('cron.job', 'coalesce(jobname, jobid::text)'),
    secrets: (await listed('vault.secrets', '1')).length,
    eventTriggers: await names('select evtname::text as name from pg_catalog.pg_event_trigger order by 1'),
  }
}
