import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { doctorCommand } from '../../compiler/commands/doctor.ts'
import type { Finding } from '../../compiler/commands/advise/doctor/findings.ts'
import { openClient, serverOf } from '../../runtime/db/connect/server.ts'
import { withSession } from '../../runtime/db/connect/session.ts'
import { classifyConnecting } from '../../runtime/db/failures/classify.ts'
import { reasonOf } from '../../runtime/db/failures/failures.ts'
import { openDatabase } from '../../runtime/db/pool/pool.ts'
import { freePort } from '../../runtime/db/embedded/free-port.ts'
import { startCluster, type ThrowAwayCluster } from '../support/cluster.ts'
import { clusterOf, majors } from '../support/clusters.ts'
import { runCommand } from '../support/command.ts'
import { createReplicated, type DatabaseServer, type ReplicatedDatabase } from '../support/replicated.ts'

let all: ReplicatedDatabase
/** Of another database system: most clusters of tests are copies of one. */
let other: ThrowAwayCluster
let standby: DatabaseServer
/** The ports of the primary and the standby, and a closed port. */
let [p, s, nowhere] = [0, 0, 0]

beforeAll(async () => {
  all = await createReplicated(1, 'grant usage on schema public to anon')
  other = await startCluster({ ...clusterOf(majors()[0] ?? 18), pristine: null })
  standby = all.standbys[0] as DatabaseServer
  nowhere = await freePort()
  p = all.primary.cluster.port
  s = standby.cluster.port
}, 120_000)
afterAll(async () => {
  await other?.remove()
  await all?.remove()
})

const list = (ports: readonly number[]): string => ports.map((port) => `127.0.0.1:${port}`).join()
const urlOf = (ports: readonly number[], target: string | null): string =>
  `postgresql://authenticator@${list(ports)}/replicated${target === null ? '' : `?target_session_attrs=${target}`}`

/** The port of the server that a URL leads to, or why it leads to none. */
const reach = async (url: string, environment = {}): Promise<number | string> => {
  try {
    const client = await openClient(serverOf(url, {}, { HOME: '/nowhere', ...environment }))
    const { rows } = await client.query<{ readonly port: number }>('select inet_server_port() as port')
    await client.end()
    return rows[0]?.port ?? 'nobody'
  } catch (error) {
    return reasonOf(classifyConnecting(error))
  }
}

describe('a URL of several hosts', () => {
  it.each([
    ['any', () => [s, p], () => s],
    ['any', () => [nowhere, p], () => p],
    ['read-write', () => [nowhere, s, p], () => p],
    ['primary', () => [s, p], () => p],
    ['standby', () => [p, s], () => s],
    ['read-only', () => [p, s], () => s],
    ['prefer-standby', () => [p, s], () => s],
    ['prefer-standby', () => [p, nowhere], () => p],
  ])('leads with target_session_attrs=%s to the first that is so', async (target, ports, wanted) => {
    expect(await reach(urlOf(ports(), target))).toBe(wanted())
  })

  it('is a list of the environment just as well', async () => {
    const environment = {
      PGHOST: '127.0.0.1,127.0.0.1',
      PGPORT: `${s},${p}`,
      PGTARGETSESSIONATTRS: 'read-write',
    }
    expect(await reach('postgres://authenticator@127.0.0.1,127.0.0.1/replicated', environment)).toBe(p)
    expect(await reach('postgres:///replicated?user=authenticator', environment)).toBe(p)
  })

  it('is refused with the reason of each host, and at once where one refuses the login', async () => {
    expect(await reach(urlOf([nowhere, s], 'read-write'))).toBe(
      `127.0.0.1:${nowhere}: connect ECONNREFUSED 127.0.0.1:${nowhere}: nothing listens there; check host and port; ` +
        `127.0.0.1:${s}: the session is read-only, and target_session_attrs is read-write`,
    )
    expect(await reach(urlOf([p, s], 'standby').replace('replicated', 'nope'))).toMatch(
      /^database "nope" does not exist/,
    )
    expect(await reach(urlOf([s], 'primary'))).toBe('the server is a standby, and target_session_attrs is primary')
    expect(await reach(urlOf([p], 'read-wrte'))).toMatch(/is none of any, .*did you mean read-write\?/)
  })

  it('holds for requests, our own statements and sessions alike', async () => {
    const url = urlOf([s, p], 'read-write')
    const database = openDatabase({ url, schemas: ['public'], statementTimeout: 30_000 })
    const portSql = 'select pg_catalog.inet_server_port() as port'
    const [{ rows }, session] = await Promise.all([
      database.query(portSql),
      withSession({ url }, (query) => query(portSql)),
    ])
    expect([...rows, ...session.rows]).toEqual([{ port: p }, { port: p }])
    expect(await database.pooler()).toBe('none')
    await database.close()
  })
})

const told = async (check: string, environment: Readonly<Record<string, string>>): Promise<readonly string[]> => {
  const { printed } = await runCommand([doctorCommand], ['doctor', '--json'], {
    environment: {
      CATALOGRAPH_DATA: '/nowhere',
      JWT_SECRET: 'a secret that has more than thirty-two characters',
      DATABASE_URL: all.primary.url,
      DATABASE_OWNER_URL: all.primary.ownerUrl,
      ...environment,
    },
  })
  const findings = JSON.parse(printed) as readonly Finding[]
  return findings.filter((one) => one.check === check).map(({ verdict, message }) => `${verdict}: ${message}`)
}

describe('catalograph doctor', () => {
  it('looks at each host', async () => {
    expect(await told('hosts', { DATABASE_URL: urlOf([p, s, nowhere], null) })).toEqual([
      `ok: 127.0.0.1:${p} is a primary`,
      `ok: 127.0.0.1:${s} is a standby`,
      expect.stringMatching(`advice: 127.0.0.1:${nowhere} is away: connect ECONNREFUSED`),
      'advice: requests go to whichever host answers first, be it a standby',
    ])
    expect(await told('hosts', { DATABASE_URL: urlOf([p, s], 'read-write') })).toHaveLength(2)
    expect(await told('hosts', {})).toEqual([])
    expect(await told('connection', { DATABASE_URL: urlOf([nowhere, s], 'primary') })).toEqual([
      expect.stringMatching(`fault: 127.0.0.1:${nowhere}: connect .*; 127.0.0.1:${s}: the server is a standby`),
    ])
  })

  it('looks at each replica', async () => {
    const urls = [
      standby.url,
      all.primary.url,
      `postgres://authenticator@127.0.0.1:${other.port}/postgres`,
      `postgres://authenticator@127.0.0.1:${nowhere}/replicated`,
    ]
    expect(await told('replicas', { DATABASE_REPLICA_URLS: urls.join() })).toEqual([
      'ok: replica 1 replays the primary',
      'fault: replica 2 is a primary',
      'fault: replica 3 is a server of another database system',
      expect.stringMatching(/^fault: replica 4 is away: connect ECONNREFUSED .*nothing listens there/),
    ])
  })

  it('says that a replica is older than it may be', async () => {
    await standby.query('select pg_wal_replay_pause()')
    onTestFinished(async () => void (await standby.query('select pg_wal_replay_resume()')))
    await all.primary.query('create table later (id int)')
    expect(await told('replicas', { DATABASE_REPLICA_URLS: standby.url, REPLICA_MAX_STALENESS_MS: '500' })).toEqual([
      'advice: replica 1 is more than 500 ms behind the primary, and answers nothing while it is',
    ])
  })

  it('takes replicas of one host only', async () => {
    expect(await told('settings', { DATABASE_REPLICA_URLS: urlOf([p, s], null) })).toEqual([
      expect.stringMatching(/^fault: DATABASE_REPLICA_URLS must be connection URLs of one host each/),
    ])
  })
})
