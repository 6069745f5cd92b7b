import { loginOf } from '../../../../runtime/db/connect/server.ts'
import { withSession, type Query } from '../../../../runtime/db/connect/session.ts'
import { DatabaseFailure, reasonOf } from '../../../../runtime/db/failures/failures.ts'
import { faultsOfOthers, poolerBefore } from '../../../../runtime/db/pool/pooler-check.ts'
import type { SchemaReport } from '../../../../runtime/graphql/report/report.ts'
import type { Settings } from '../../../../runtime/settings/keys.ts'
import { loginExists, lackOfLogin, loginRemedy } from '../../../following/prepare/login.ts'
import { foreignOwners, ownerSentence, ownersRemedy } from '../../../following/prepare/migration.ts'
import { checkPrepared, wayOut, type Preparation } from '../../../following/prepare/prepare.ts'
import { demandSchemas } from '../../../following/serving/followed-source.ts'
import { keylessRows, compileReporting, reportFor, type ReportingManifest } from '../report/report.ts'
import { connectionFindings, poolerFaultFinding, poolerFinding } from './database-connection.ts'
import { advise, fault, ok, type Finding } from './findings.ts'
import { hostFindings } from './hosts.ts'
import { liveFindings, schemaFindings } from './schema.ts'
import { replicaFindings } from './replicas.ts'
import {
  roleSettingFindings,
  tokenHookFindings,
  previousSecretFindings,
  addressFinding,
  authFindings,
  isAuthThere,
  keysFinding,
  mailFinding,
  nodeFinding,
} from './surroundings.ts'
import { shardFindings } from './shards.ts'

/** The input of an examination: the settings, and the login URLs of requests and the compiler. */
export interface Patient {
  readonly settings: Settings
  /** Whether keys come from the secret of the embedded database. */
  readonly isEmbedded: boolean
  readonly loginUrl: string
  readonly ownerUrl: string
}

/** A check that fails is a fault with its reason; the other checks still run. */
const orFault = (check: string, fix: string, look: () => Promise<readonly Finding[]>): Promise<readonly Finding[]> =>
  look().catch((error: unknown) => [fault(check, reasonOf(error), fix)])

const preparationOf = ({ loginUrl, ownerUrl }: Patient): Promise<Preparation> =>
  checkPrepared({ url: ownerUrl, login: loginOf(loginUrl) })

async function preparedFindings(patient: Patient): Promise<readonly Finding[]> {
  const preparation = await preparationOf(patient)
  if (!preparation.ready) {
    const fix =
      preparation.obstacle === null
        ? 'run catalograph prepare'
        : `name another role in DATABASE_OWNER_URL, or go on: ${wayOut(preparation)}`
    return [fault('prepared', `${preparation.statements.length} things are missing that serving needs`, fix)]
  }
  if (preparation.followed) return [ok('prepared', 'the database is prepared, and changes of its schema are followed')]
  const foreign = await withSession({ url: patient.ownerUrl }, foreignOwners)
  const [first] = foreign
  if (first !== undefined) return [fault('prepared', ownerSentence(first), ownersRemedy(foreign))]
  const late = 'without event triggers changes of the schema take effect up to a second late'
  return [advise('prepared', late, 'let a superuser run what catalograph prepare --sql prints')]
}

const poolerFindings = async ({ loginUrl, settings }: Patient): Promise<readonly Finding[]> => [
  poolerFinding(settings.pooler, await poolerBefore(loginUrl)),
  ...(await faultsOfOthers(loginUrl, settings)).map(poolerFaultFinding),
]

/** As the login role of requests. A role that it cannot become is reported with the roles. */
const adviceFor = async (loginUrl: string, manifest: ReportingManifest): Promise<SchemaReport['advice']> => {
  try {
    return (await reportFor(loginUrl, manifest, 'anon')).advice
  } catch (error) {
    if (error instanceof DatabaseFailure && error.kind === 'role-refused') return []
    throw error
  }
}

const schemaPart = async (patient: Patient, query: Query): Promise<readonly Finding[]> => {
  const { loginUrl, settings } = patient
  const { schemas } = settings
  await demandSchemas(query, schemas)
  const { compiled, manifest } = await compileReporting(query, schemas)
  const preparation = await preparationOf(patient)
  const live = {
    listenUrl: settings.databaseListenUrl ?? loginUrl,
    followed: preparation.ready && preparation.followed,
    prepared: preparation.ready && preparation.live,
  }
  return [
    ...schemaFindings(manifest, compiled.diagnostics, await adviceFor(loginUrl, manifest)),
    ...(await keylessRows(query, manifest)).map(({ message, sql }) => advise('keys', message, sql)),
    ...(await liveFindings(query, compiled, live)),
  ]
}

/** Settings of the login role, read as another role: they may prevent its login. */
const loginSettings = async ({ loginUrl, ownerUrl }: Patient, isRefused: boolean): Promise<readonly Finding[]> => {
  if (isRefused && loginUrl === ownerUrl) return []
  const login = loginOf(loginUrl)
  const look = () =>
    withSession({ url: ownerUrl }, async (query) =>
      (await loginExists(query, login))
        ? roleSettingFindings(query, login, isRefused)
        : [fault('login', lackOfLogin(login), loginRemedy(login))],
    )
  return isRefused ? look().catch(() => []) : orFault('role settings', 'check DATABASE_OWNER_URL', look)
}

/** All checks of a database, its settings and the process that will serve it. It only reads. */
export async function examine(patient: Patient, nodeVersion: string, now: () => number): Promise<readonly Finding[]> {
  const { settings, loginUrl, ownerUrl } = patient
  const here = [
    nodeFinding(nodeVersion),
    keysFinding(settings, patient.isEmbedded),
    ...previousSecretFindings(settings, now()),
  ]
  const pooler = await orFault('connection', 'check DATABASE_URL', () => poolerFindings(patient))
  if (pooler.some(({ verdict }) => verdict === 'fault'))
    return [...here, ...pooler, ...(await loginSettings(patient, true))]
  const login = await orFault('connection', 'check DATABASE_URL', () =>
    withSession({ url: loginUrl }, (query) => connectionFindings(query, settings, now())),
  )
  if (login.some(({ check, verdict }) => check === 'connection' && verdict === 'fault'))
    return [...here, ...login, ...(await loginSettings(patient, true))]
  const database = await Promise.all([
    loginSettings(patient, false),
    orFault('hosts', 'check DATABASE_URL', () => hostFindings(loginUrl, process.env)),
    orFault('replicas', 'check DATABASE_REPLICA_URLS', () => replicaFindings(loginUrl, settings)),
    orFault('prepared', 'check DATABASE_OWNER_URL', () => preparedFindings(patient)),
    orFault('schema', 'check DB_SCHEMAS, and the privileges of the role', () =>
      withSession({ url: ownerUrl }, (query) => schemaPart(patient, query)),
    ),
    orFault('citus', 'check DATABASE_OWNER_URL, and the privileges of the roles', () =>
      shardFindings(loginUrl, ownerUrl),
    ),
    orFault('auth', 'check DATABASE_OWNER_URL', () =>
      withSession({ url: ownerUrl }, async (query) => {
        const isAuth = await isAuthThere(query)
        const authUrl = settings.databaseAuthUrl ?? ownerUrl
        return [
          ...(isAuth ? await withSession({ url: authUrl }, authFindings) : []),
          await mailFinding(settings, isAuth),
          addressFinding(settings, isAuth),
          ...(isAuth ? await tokenHookFindings(query) : []),
        ]
      }),
    ),
  ])
  return [...here, ...login, ...pooler, ...database.flat()]
}
