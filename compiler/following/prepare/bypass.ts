import type { Query } from '../../../runtime/db/connect/session.ts'

export const lackOfBypass = 'policies bind service_role, since it does not bypass row-level security'

/** A role that may create roles may not give this attribute (manual, CREATE ROLE). */
export const bypassRemedy = 'let a superuser run: alter role service_role bypassrls;'

export const lacksBypass = async (query: Query): Promise<boolean> =>
  (
    await query(`select from pg_catalog.pg_roles r
      where r.rolname = 'service_role' and not r.rolbypassrls and not r.rolsuper`)
  ).rows.length > 0
