import { ident } from '../../../../runtime/sql/ident.ts'
import type { Imported, ImportedStatement } from '../imported.ts'
import type { RoleUse, SupabaseProject } from './project.ts'

/** The new server, as far as the steps depend on it. */
export interface NewServer {
  readonly roles: ReadonlySet<string>
  /** Settings of its roles: `role name`. */
  readonly settings: ReadonlySet<string>
  readonly extensions: ReadonlySet<string>
  /** Whether its owner may create roles that bypass row-level security, and event triggers. */
  readonly superuser: boolean
}

/** Roles of services that do not move; nothing that moves needs them. */
const ofPlatform =
  /^(?:postgres|supabase_(?!auth_admin$)\w+|dashboard_user|pgbouncer|pgsodium_\w+|cli_login_\w+|pgtle_admin|authenticator_\w+)$/

const attributes: Readonly<Record<string, string>> = {
  anon: 'nologin noinherit',
  authenticated: 'nologin noinherit',
  service_role: 'nologin noinherit bypassrls',
  authenticator: 'login noinherit',
  supabase_auth_admin: 'nologin noinherit createrole',
}

/** Each project has these, whether or not its dump names them. */
const always = ['anon', 'authenticated', 'service_role', 'authenticator', 'supabase_auth_admin']

const needed = ([role, uses]: readonly [string, ReadonlySet<RoleUse>]): boolean =>
  uses.has('policies') || !ofPlatform.test(role)

function roleStatements({ roles }: SupabaseProject, server: NewServer): readonly ImportedStatement[] {
  const wanted = new Set([...always, ...[...roles].filter(needed).map(([role]) => role)])
  const missing = [...wanted].filter((role) => !server.roles.has(role))
  const created = missing.map((role): ImportedStatement => {
    const found = attributes[role] ?? 'nologin'
    const isLess = role === 'service_role' && !server.superuser
    const uses = [...(roles.get(role) ?? [])].join(', ')
    return {
      remarks: [
        ...(uses === '' ? [] : [`named by ${uses}`]),
        ...(isLess ? ['A superuser completes it: alter role service_role bypassrls'] : []),
        ...(role === 'authenticator'
          ? [
              'Requests log in as this role: give it a password (\\password authenticator), and name it in DATABASE_URL.',
            ]
          : []),
      ],
      sql: `create role ${ident(role)} ${isLess ? found.replace(' bypassrls', '') : found}`,
    }
  })
  const members = ['anon', 'authenticated', 'service_role'].filter(
    (role) => missing.includes(role) || missing.includes('authenticator'),
  )
  const owners = missing.filter((role) => roles.get(role)?.has('owners') === true)
  const grant = (names: readonly string[], to: string, remarks: readonly string[]): readonly ImportedStatement[] =>
    names.length === 0 ? [] : [{ remarks, sql: `grant ${names.map(ident).join(', ')} to ${to}` }]
  return [
    ...created,
    ...grant(members, 'authenticator', []),
    ...(server.superuser ? [] : grant(owners, 'current_user', ['Only a member of a role can give objects to it.'])),
  ]
}

/** Libraries that the new server may lack keep a role from connecting. */
const isLibrary = (name: string): boolean => /_preload_libraries$/.test(name)

const resets = ({ roleSettings }: SupabaseProject): readonly { readonly key: string; readonly sql: string }[] =>
  roleSettings
    .filter(({ name }) => isLibrary(name))
    .map(({ role, name }) => ({ key: `${role} ${name}`, sql: `alter role ${ident(role)} reset ${name}` }))

/** Extensions that have a meaning beside functions of the project's own SQL. */
const services: Readonly<Record<string, string>> = {
  pg_graphql: 'GraphQL is served without it; its comments are read as they are',
  supabase_vault: 'secrets of the vault stay behind',
  pgsodium: 'columns that it encrypted cannot be read elsewhere',
  pg_cron: 'jobs stay behind unless the new server has it',
  pg_net: 'requests from triggers and functions fail',
  pgmq: 'queues stay behind',
  wrappers: 'foreign tables of wrappers stay behind',
  pg_stat_statements: 'statistics are of a server',
  pgjwt: 'functions that sign tokens fail',
}

function harmless({ roles, extensions, eventTriggers }: SupabaseProject, server: NewServer): readonly string[] {
  const absent = [...roles].filter((one) => !needed(one) && !server.roles.has(one[0])).map(([role]) => role)
  const lacking = extensions.filter((name) => !server.extensions.has(name))
  return [
    ...(absent.length === 0
      ? []
      : [
          `role "${absent.join('", "')}" does not exist: they own or use parts that do not move; what they would own belongs to the role that restores`,
        ]),
    ...lacking.map(
      (name) =>
        `extension "${name}" is not available, and errors of its schema: ${services[name] ?? 'whatever calls it fails; look for a package of it'}`,
    ),
    ...(eventTriggers.length > 0 && !server.superuser
      ? [`permission denied to create event trigger: ${eventTriggers.join(', ')}`]
      : []),
    'permission denied for schema auth, must be able to SET ROLE "supabase_auth_admin": auth enable gives it its tables',
    'permission denied to change default privileges: those of roles that do not move',
    'schema "public" already exists; publication "supabase_realtime" and its tables: nothing reads it here',
    'unrecognized configuration parameter: the dump was written by a newer pg_dump',
  ]
}

const schemasServed = ({ roleSettings }: SupabaseProject): string | null =>
  roleSettings.find(({ name }) => name === 'pgrst.db_schemas')?.value.replaceAll(/['"\s]/g, '') ?? null

/** The steps after the roles, for a person. */
function stepsOf(project: SupabaseProject, server: NewServer): readonly string[] {
  const schemas = schemasServed(project)
  const later = resets(project).filter(({ key }) => !(server.superuser && server.settings.has(key)))
  const counted = project.users === null ? '' : ` (${project.users} users)`
  return [
    '1. Run the statements above.',
    'As the owner, restore the dump: psql "$DATABASE_OWNER_URL" -f dump.sql. These errors do not matter:',
    ...harmless(project, server).map((line) => `   ${line}`),
    '   Any other error does: read it before you go on.',
    ...(later.length === 0
      ? []
      : [
          'Where these settings came along, let a superuser reset them: without their library a role cannot connect.',
          ...later.map(({ sql }) => `   ${sql};`),
        ]),
    'catalograph prepare',
    project.authTables.length > 0
      ? `catalograph auth enable --site-url https://... takes over auth.users${counted}: users keep their ids, bcrypt passwords, identities, second factors and refresh tokens.`
      : 'catalograph auth enable --site-url https://...: the dump has no schema auth; dump it, too, or users sign up again.',
    'Set JWT_SECRET to the JWT secret of the project (Settings, API): its anon and service_role keys and the tokens of signed-in users stay good.',
    ...(schemas === null ? [] : [`Set DB_SCHEMAS=${schemas}, which the project served.`]),
    'catalograph doctor, and this command again with --compare.',
  ].map((line, index, all) =>
    index === 0 || line.startsWith('   ')
      ? line
      : `${all.slice(0, index + 1).filter((one) => !one.startsWith('   ')).length}. ${line}`,
  )
}

/** Identities of these providers sign in here. */
const offered = new Set(['email', 'google', 'anonymous'])

function leftBehind({
  providers,
  hooks,
  buckets,
  realtime,
  webhooks,
  cronJobs,
  secrets,
  authTables,
}: SupabaseProject): readonly string[] {
  const other = [...providers].filter(([provider]) => !offered.has(provider))
  const strange = authTables.filter((table) => /\.(?:sso_|saml_|oauth_|webauthn_)/.test(table))
  return [
    ...hooks.map((name) =>
      /custom_access_token/.test(name)
        ? `hook ${name}: it is not called, so tokens lack the claims that it adds, and policies that read them never hold; read the same from a table by auth.uid(), or keep it in app_metadata`
        : `hook ${name}: it is not called`,
    ),
    ...other.map(
      ([provider, count]) =>
        `identities of ${provider} (${count}): only passwords, Google and guests sign in; these users recover by mail`,
    ),
    ...(strange.length > 0
      ? [
          `${strange.join(', ')}: single sign-on by SAML, an OAuth server and passkeys are not offered; the tables stay as they are`,
        ]
      : []),
    ...(buckets.length > 0
      ? [
          `storage (buckets ${buckets.join(', ')}): files are not in a dump; keep them there, or put a store of files beside`,
        ]
      : ['storage: there is none; put a store of files beside']),
    ...(realtime.length > 0
      ? [
          `realtime of ${realtime.join(', ')}: channels are not offered; live queries are: comment on table ... is '@graphql({"live": {"enabled": true}})'`,
        ]
      : ['realtime: channels are not offered; see docs/live.md for live queries']),
    ...(webhooks.length > 0
      ? [
          `webhooks ${webhooks.join(', ')}: their triggers fail without pg_net, and so do writes to their tables; drop them`,
        ]
      : []),
    ...(cronJobs.length > 0
      ? [`cron jobs ${cronJobs.join(', ')}: make them again where pg_cron is, or by a scheduler beside`]
      : []),
    ...(secrets > 0
      ? [
          `vault (${secrets} secrets): they are encrypted with a key of the old server; read them there and set them elsewhere`,
        ]
      : []),
    'edge functions: they are not in the database; run them beside, by the URL and the keys of this service',
    'REST (.from() and .rpc() of supabase-js): only GraphQL and auth are served',
  ]
}

/** The roles that a restore needs, the settings to reset, and the steps of a move. */
export function importSupabase(project: SupabaseProject, server: NewServer): Imported {
  const created = roleStatements(project, server)
  const reset = resets(project)
    .filter(({ key }) => server.superuser && server.settings.has(key))
    .map(({ sql }) => ({ remarks: ['A library that this server may lack keeps the role from connecting.'], sql }))
  return {
    summary: `${project.roles.size} roles are named, of which ${created.filter(({ sql }) => sql.startsWith('create')).length} are to be created.`,
    statements: [...created, ...reset],
    steps: stepsOf(project, server),
    left: leftBehind(project),
  }
}
