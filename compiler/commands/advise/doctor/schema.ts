import type { SchemaReport } from '../../../../runtime/graphql/report/report.ts'
import type { Diagnostic, Manifest } from '../../../../runtime/contract/manifest.ts'
import { summaryOf } from '../../../../runtime/engine/summary.ts'
import { visibleTo } from '../../../additions/engine.ts'
import { groupBy, atOnce } from '../../../../runtime/lib/steps.ts'
import { fieldLosses } from '../../../catalog/diagnostics/diagnostics.ts'
import { advise, fault, ok, type Finding } from './findings.ts'
import type { LiveRelation } from '../../../../runtime/contract/live.ts'
import type { Query } from '../../../../runtime/db/connect/session.ts'
import { reasonOf } from '../../../../runtime/db/failures/failures.ts'
import { createOpenFeedConnection } from '../../../../runtime/graphql/live/changes/connection.ts'
import { ident } from '../../../../runtime/sql/ident.ts'
import type { Compiled } from '../../../compile.ts'

const visibleFindings = (manifest: Manifest): readonly Finding[] => {
  const { relations, visible, missingGrants } = atOnce(summaryOf(manifest, (role) => visibleTo(manifest, role)))
  const list = visible.map(({ role, relations: count }) => `${count} to ${role}`).join(', ')
  return missingGrants === null
    ? [ok('grants', `of ${relations} tables and views are visible: ${list}`)]
    : [fault('grants', `no role sees any of ${relations} tables and views, so the API is empty`, missingGrants)]
}

/** Off is not a fault, but an editor's first query fails. */
const introspectionFinding = ({ schemas }: Manifest): Finding => {
  const open = schemas.filter(({ introspection }) => introspection).map(({ name }) => name)
  return ok(
    'introspection',
    open.length > 0
      ? `answered for ${open.join(', ')}`
      : 'off; editors can read what catalograph schema prints, and {"introspection": true} in the comment of a schema switches it on',
  )
}

/** Diagnostics of comments that make every request fail. */
const refusing: ReadonlySet<string> = new Set(['comment-json', 'comment-value'])

function remarkFindings(diagnostics: readonly Diagnostic[]): readonly Finding[] {
  const lost = diagnostics.filter(({ code }) => fieldLosses.has(code)).length
  const refused = diagnostics.filter(({ code }) => refusing.has(code)).length
  const comments = diagnostics.filter(({ code }) => code.startsWith('comment-')).length - refused
  const keyless = diagnostics.filter(({ code }) => code === 'no-key').length
  const crossing = diagnostics.filter(({ code }) => code === 'relation-crosses-shards').length
  const loosened = diagnostics.filter(({ code }) => code === 'policies-loosened')
  const broken = diagnostics.filter(({ severity }) => severity === 'error').length - loosened.length - refused
  return [
    ...loosened.map(({ object, message, fix }) => fault('policies', `${object}: ${message}`, fix)),
    ...(broken > 0 ? [fault('schema', `${broken} objects cannot be served`, 'catalograph report names them')] : []),
    ...(crossing > 0
      ? [
          advise(
            'citus',
            `${crossing} relations lead from one server to another, so that requests that follow them are refused`,
            'catalograph report names each, with its fix',
          ),
        ]
      : []),
    ...(comments > 0
      ? [advise('comments', `${comments} comments or settings in them have no effect`, 'catalograph report names them')]
      : refused > 0
        ? []
        : [ok('comments', 'all comments can be read')]),
    ...(lost > 0
      ? [
          advise(
            'names',
            `${lost} names collide or are not GraphQL names, so that fields are missing`,
            'catalograph annotate writes comments that give each a name',
          ),
        ]
      : [ok('names', 'no names collide')]),
    ...(keyless > 0
      ? [
          advise(
            'keys',
            `${keyless} tables and views have no key, and so no collection`,
            'add primary keys; where columns tell rows apart, catalograph annotate writes comments',
          ),
        ]
      : []),
  ]
}

/** About the served schemas: visibility, diagnostics of the compiler, and the advice of the report. */
export const schemaFindings = (
  manifest: Manifest,
  diagnostics: readonly Diagnostic[],
  advice: SchemaReport['advice'],
): readonly Finding[] => [
  ...diagnostics
    .filter(({ code }) => refusing.has(code))
    .map(({ object, message, fix }) => fault('comments', `${object}: ${message}`, fix)),
  ...visibleFindings(manifest),
  introspectionFinding(manifest),
  ...remarkFindings(diagnostics),
  ...[...groupBy(advice, ({ problem }) => problem)].map(([problem, group]) =>
    advise('database', `${problem}: ${group.length}`, 'catalograph report names each, with the SQL that mends it'),
  ),
]

const check = 'live'

interface LivePatient {
  /** Reaches the primary, without poolers. */
  readonly listenUrl: string
  /** Whether event triggers follow the schema. */
  readonly followed: boolean
  /** Whether all objects for live queries exist, except triggers of tables. */
  readonly prepared: boolean
}

/** Why tables cannot be watched that comments make live; empty if there are none. It only reads. */
export async function liveFindings(
  query: Query,
  { revision: { manifest }, unwatched, diagnostics }: Pick<Compiled, 'revision' | 'unwatched' | 'diagnostics'>,
  { listenUrl, followed, prepared }: LivePatient,
): Promise<readonly Finding[]> {
  if (!isAnyLive(manifest)) return []
  if (!followed)
    return [
      fault(
        check,
        'nothing can be watched: without event triggers, triggers of live tables would not follow the schema',
        'let a superuser run what catalograph prepare --sql prints',
      ),
    ]
  if (!prepared)
    return [
      fault(
        check,
        'nothing can be watched: the database is not prepared for live queries',
        'run catalograph prepare, or let a role that may run what catalograph prepare --sql prints',
      ),
    ]
  return [
    ...(await connectionFindings(listenUrl)),
    ...(await missingTriggerFindings(query, unwatched)),
    ...refusedFindings(diagnostics, unwatched),
    watchedFinding(manifest),
  ]
}

const isAnyLive = ({ entities, functions }: Manifest): boolean => [...entities, ...functions].some(({ live }) => live)

function watchedFinding({ entities }: Manifest): Finding {
  const watched = entities.filter(({ live }) => live !== undefined && 'reads' in live)
  return ok(check, `${watched.length} tables and views can be watched`)
}

const connectionFindings = async (listenUrl: string): Promise<readonly Finding[]> => {
  try {
    const connection = await createOpenFeedConnection(listenUrl)()
    connection.end()
    return []
  } catch (error) {
    return [
      fault(check, `no change is reported: ${reasonOf(error)}`, 'DATABASE_LISTEN_URL names another way to the primary'),
    ]
  }
}

interface UnwatchedFacts {
  readonly name: string
  readonly owner: string
  readonly preparer: string
  readonly may: boolean
}

/** Creating a trigger requires the privilege, making it fire always the owner's role (manual, ALTER TABLE). */
const missingTriggersSql = `select c.oid::pg_catalog.regclass::text as name, pg_catalog.pg_get_userbyid(c.relowner)::text as owner,
    p.rolname::text as preparer, pg_catalog.pg_has_role(p.oid, c.relowner, 'USAGE') as may
  from pg_catalog.json_array_elements($1) e
  join pg_catalog.pg_namespace n on n.nspname = e ->> 'schema'
  join pg_catalog.pg_class c on c.relnamespace = n.oid and c.relname = e ->> 'name'
  cross join (select r.oid, r.rolname from pg_catalog.pg_proc f join pg_catalog.pg_roles r on r.oid = f.proowner
    where f.oid = pg_catalog.to_regprocedure('catalograph.live_install(oid)')) p
  order by 1`

async function missingTriggerFindings(query: Query, tables: readonly LiveRelation[]): Promise<readonly Finding[]> {
  if (tables.length === 0) return []
  const { rows } = await query<UnwatchedFacts>(missingTriggersSql, [JSON.stringify(tables)])
  return rows.map(({ name, owner, preparer, may }) =>
    may
      ? advise(
          check,
          `${name} has no triggers yet that report its changes`,
          'run catalograph prepare, or serve the database as the role that prepares it',
        )
      : fault(
          check,
          `${name} cannot be watched: ${preparer} may not give it triggers, since it is ${owner}'s`,
          `grant ${ident(owner)} to ${ident(preparer)};`,
        ),
  )
}

/** Those that lack more than triggers. */
function refusedFindings(diagnostics: readonly Diagnostic[], tables: readonly LiveRelation[]): readonly Finding[] {
  const refused = diagnostics.filter(({ code }) => code === 'live-refused').length
  if (refused === 0 || tables.length > 0) return []
  return [
    advise(
      check,
      `${refused} live tables and views cannot be watched`,
      'catalograph report names each, with the reasons',
    ),
  ]
}
