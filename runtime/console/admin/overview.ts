import { json, type Outcome } from '../../auth/call/call.ts'
import { statement } from '../../db/pool/statements.ts'
import { builtRevision, packageVersion } from '../../lib/package.ts'
import type { AdminParts, OverviewAnswer, OwnerCall } from './call.ts'

const version = statement<{ readonly postgres: string }>(
  'admin.overview.postgres',
  `select current_setting('server_version') as postgres`,
)

const users = statement<NonNullable<OverviewAnswer['users']>>(
  'admin.overview.users',
  `select count(*)::int as "all", count(*) filter (where is_anonymous)::int as guests,
    count(*) filter (where created_at > now() - interval '7 days')::int as week
  from auth.users where deleted_at is null`,
)

/** GET /overview */
export async function getOverview(_call: OwnerCall, { tools, overview, state }: AdminParts): Promise<Outcome> {
  const { run } = tools.database
  const [{ health, summary }, { kind }, [found]] = await Promise.all([overview(), state(), run(version)])
  const [people = null] = kind === 'enabled' ? await run(users) : []
  return json<OverviewAnswer>({
    status: health.status,
    fault: health.fault,
    version: await packageVersion(),
    commit: await builtRevision(),
    node: process.version,
    postgres: found?.postgres ?? '',
    relations: summary?.relations ?? null,
    roles: summary?.visible.map(({ role, relations }) => ({ role, relations })) ?? [],
    users: people,
  })
}
