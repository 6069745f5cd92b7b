import type { Query } from '../../../../runtime/db/connect/session.ts'
import { poolerFault, type Pooler } from '../../../../runtime/db/connect/pooler.ts'
import { apiRoles } from '../../../../runtime/engine/summary.ts'
import { ident } from '../../../../runtime/sql/ident.ts'
import type { PoolerSetting, Settings } from '../../../../runtime/settings/keys.ts'
import { bypassRemedy, lackOfBypass, lacksBypass } from '../../../following/prepare/migration.ts'
import { advise, fault, ok, type Finding } from './findings.ts'

interface ServerFacts {
  readonly major: number
  readonly version: string
  readonly encrypted: boolean
  readonly local: boolean
  readonly seconds: number
  readonly login: string
  readonly superuser: boolean
  readonly bypasses: boolean
  readonly inherits: boolean
  readonly free: number
  readonly plans: string
}

const factsSql = `select
    pg_catalog.current_setting('server_version_num')::int / 10000 as major,
    pg_catalog.current_setting('server_version') as version,
    coalesce((select s.ssl from pg_catalog.pg_stat_ssl s where s.pid = pg_catalog.pg_backend_pid()), false) as encrypted,
    coalesce(pg_catalog.inet_client_addr() <<= any (array['127.0.0.0/8', '::1/128']::inet[]), true) as local,
    extract(epoch from pg_catalog.clock_timestamp())::float8 as seconds,
    r.rolname::text as login, r.rolsuper as superuser, r.rolbypassrls as bypasses, r.rolinherit as inherits,
    pg_catalog.current_setting('max_connections')::int
      - pg_catalog.current_setting('superuser_reserved_connections')::int as free,
    pg_catalog.current_setting('plan_cache_mode') as plans
  from pg_catalog.pg_roles r where r.rolname = session_user`

const oldest = 14
const newest = 18

/** Tokens are checked with this clock, rows with the other. */
const clockToleranceS = 5

/**
 * Connections of callers, of service_role and our own statements, for cancelling requests, and for the changes of live
 * queries.
 */
const connectionsOf = ({ poolSize, authPoolSize, liveStreams }: Settings): number =>
  poolSize + 2 + 2 + authPoolSize + (liveStreams === 0 ? 0 : 2)

function serverFindings(facts: ServerFacts, settings: Settings, now: number): readonly Finding[] {
  const { major, version, encrypted, local, seconds, free, plans } = facts
  const drift = Math.round(Math.abs(now / 1_000 - seconds))
  const wanted = connectionsOf(settings)
  return [
    major < oldest || major > newest
      ? fault('version', `PostgreSQL ${version} is not supported`, `use PostgreSQL ${oldest} to ${newest}`)
      : ok('version', `PostgreSQL ${version}`),
    encrypted || local
      ? ok('encryption', encrypted ? 'the connection is encrypted' : 'not encrypted, and does not leave the machine')
      : advise(
          'encryption',
          'passwords and rows travel unencrypted',
          'add sslmode=verify-full to the URL, or switch ssl on in postgresql.conf',
        ),
    drift > clockToleranceS
      ? advise(
          'clock',
          `the clocks of this machine and of the database are ${drift} s apart`,
          'let both follow a time server',
        )
      : ok('clock', 'the clocks agree'),
    wanted > free
      ? advise(
          'connections',
          `this process may open ${wanted} connections, and the server takes ${free} from all its clients`,
          'lower DB_POOL_SIZE or AUTH_POOL_SIZE, or raise max_connections',
        )
      : ok('connections', `this process opens ${wanted} of ${free} connections at most`),
    ...(plans === 'auto'
      ? []
      : [
          advise(
            'plans',
            `plan_cache_mode is ${plans}`,
            'alter role or database: reset plan_cache_mode; prepared statements then find the better plan themselves',
          ),
        ]),
  ]
}

function loginFindings({ login, superuser, bypasses, inherits }: ServerFacts): readonly Finding[] {
  const name = ident(login)
  if (superuser) {
    return [
      advise(
        'login',
        `requests log in as ${login}, a superuser`,
        `create role authenticator login noinherit password '...'; and name it in DATABASE_URL, this one in DATABASE_OWNER_URL`,
      ),
    ]
  }
  if (bypasses) return [advise('login', `${login} bypasses row-level security`, `alter role ${name} nobypassrls;`)]
  if (inherits) return [advise('login', `${login} inherits what its roles may do`, `alter role ${name} noinherit;`)]
  return [ok('login', `requests log in as ${login}, which has no privileges of its own`)]
}

interface Membership {
  readonly role: string
  readonly there: boolean
  readonly member: boolean
}

const membershipSql = `select n.role, r.oid is not null as there,
    coalesce(pg_catalog.pg_has_role(session_user, r.oid, case
      when pg_catalog.current_setting('server_version_num')::int >= 160000 then 'SET' else 'MEMBER' end), false) as member
  from pg_catalog.unnest($1::text[]) n(role) left join pg_catalog.pg_roles r on r.rolname::text = n.role`

function membershipFindings(rows: readonly Membership[], login: string): readonly Finding[] {
  const lacking = rows.filter(({ there, member }) => there && !member).map(({ role }) => role)
  const absent = rows.filter(({ there }) => !there).map(({ role }) => role)
  if (absent.length > 0)
    return [fault('roles', `these roles do not exist: ${absent.join(', ')}`, 'run catalograph prepare')]
  return lacking.length > 0
    ? [
        fault(
          'roles',
          `${login} may not become ${lacking.join(', ')}`,
          `grant ${lacking.map(ident).join(', ')} to ${ident(login)};`,
        ),
      ]
    : [ok('roles', `${login} may become ${rows.map(({ role }) => role).join(', ')}`)]
}

export async function connectionFindings(query: Query, settings: Settings, now: number): Promise<readonly Finding[]> {
  const [facts] = (await query<ServerFacts>(factsSql)).rows
  if (facts === undefined) return []
  const { rows } = await query<Membership>(membershipSql, [apiRoles])
  return [
    ok('connection', `connected as ${facts.login}`),
    ...serverFindings(facts, settings, now),
    ...loginFindings(facts),
    ...membershipFindings(rows, facts.login),
    ...((await lacksBypass(query)) ? [advise('roles', lackOfBypass, bypassRemedy)] : []),
  ]
}

const poolerSentences: Readonly<Record<Pooler, string>> = {
  none: 'no pooler is in front of the database',
  statements: 'a pooler is in front of the database, and keeps prepared statements',
  'no-statements':
    'a pooler in front of the database keeps no prepared statements, so that each statement is planned again',
  'unreliable-statements': '',
  'no-transactions': '',
}

const keepThem = 'set max_prepared_statements (PgBouncer 1.21 and newer), or its pool_mode to session'

/** A suboptimal pooler; null: none. */
const poolerAdvice = (setting: PoolerSetting, found: Pooler): string | null => {
  if (found === 'no-statements') return keepThem
  return setting === 'auto' || setting === found ? null : 'set DATABASE_POOLER to auto'
}

/** @param sentence of poolerFault: the fault, and its fix after a colon */
export function poolerFaultFinding(sentence: string): Finding {
  const at = sentence.lastIndexOf(': ')
  return fault('pooler', sentence.slice(0, at), sentence.slice(at + 2))
}

export function poolerFinding(setting: PoolerSetting, found: Pooler): Finding {
  const wrong = poolerFault(setting, found)
  if (wrong !== null) return poolerFaultFinding(wrong)
  const advice = poolerAdvice(setting, found)
  return advice === null ? ok('pooler', poolerSentences[found]) : advise('pooler', poolerSentences[found], advice)
}
