import { appendFileSync, chmodSync, chownSync, copyFileSync, mkdtempSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Encryption } from '../../../../runtime/db/connect/encryption.ts'
import { openClient, serverOf } from '../../../../runtime/db/connect/server.ts'
import { classifyConnecting } from '../../../../runtime/db/failures/classify.ts'
import { reasonOf } from '../../../../runtime/db/failures/failures.ts'
import { openDatabase } from '../../../../runtime/db/pool/pool.ts'
import { makeAuthority, makeCertificate, noOpenssl } from '../../../support/certificates.ts'
import { startCluster, type ThrowAwayCluster } from '../../../support/cluster.ts'
import { clusterOf, majors } from '../../../support/clusters.ts'
import { titled } from '../../../support/programs.ts'

const folder = mkdtempSync(join(tmpdir(), 'catalograph-tls-'))
const file = (name: string): string => join(folder, name)
const bare = { HOME: file('nobody') }

/** The permitted connections: the last line admits the superuser of the helpers. */
const rules = [
  'hostssl all needs_tls 127.0.0.1/32 trust',
  'hostnossl all needs_plain 127.0.0.1/32 trust',
  'hostssl all needs_cert 127.0.0.1/32 cert',
  'host all needs_password 127.0.0.1/32 scram-sha-256',
  'host all postgres 127.0.0.1/32 trust',
]

const usersSql = ['needs_tls', 'needs_plain', 'needs_cert', 'needs_password'].map((name) => `create role ${name} login`)

interface Reached {
  readonly encrypted: boolean
}

const missing = noOpenssl()

describe.skipIf(missing !== null)(titled('the encryption of connections', missing), () => {
  let cluster: ThrowAwayCluster
  beforeAll(async () => {
    await makeAuthority(folder, 'authority')
    await makeAuthority(folder, 'stranger')
    await makeCertificate(folder, 'authority', 'server', { subject: 'localhost', hosts: 'DNS:localhost' })
    await makeCertificate(folder, 'authority', 'client', { subject: 'needs_cert' })
    const [major] = majors()
    if (major === undefined) throw new Error('no Postgres to test on')
    cluster = await startCluster(clusterOf(major))
    const admin = await openClient(serverOf(`postgres://postgres@127.0.0.1:${cluster.port}/postgres`, {}, bare))
    for (const sql of usersSql) await admin.query(sql)
    await admin.query("alter role needs_password password 'right'")
    await admin.end()
    await cluster.stop()
    const { uid, gid } = statSync(cluster.folder)
    for (const name of ['server.crt', 'server.key', 'authority.crt']) {
      const target = join(cluster.folder, name)
      copyFileSync(file(name), target)
      chmodSync(target, 0o600)
      chownSync(target, uid, gid)
    }
    appendFileSync(join(cluster.folder, 'postgresql.conf'), "\nssl = on\nssl_ca_file = 'authority.crt'\n")
    writeFileSync(join(cluster.folder, 'pg_hba.conf'), `${rules.join('\n')}\n`)
    await cluster.restart()
  })
  afterAll(() => cluster.remove())

  const urlOf = (user: string, parameters: Readonly<Record<string, string>>, host = '127.0.0.1'): string =>
    `postgres://${user}@${host}:${cluster.port}/postgres?${new URLSearchParams(parameters)}`

  /** Connects, and says how; or says why not. */
  const reach = async (url: string, environment = {}): Promise<boolean | string> => {
    try {
      const client = await openClient(serverOf(url, {}, { ...bare, ...environment }))
      const { rows } = await client.query<Reached>(
        'select ssl as encrypted from pg_stat_ssl where pid = pg_backend_pid()',
      )
      await client.end()
      return rows[0]?.encrypted ?? 'nobody'
    } catch (error) {
      return reasonOf(classifyConnecting(error))
    }
  }

  const authority = { sslrootcert: file('authority.crt') }
  const stranger = { sslrootcert: file('stranger.crt') }
  const untrusted = /self-signed certificate|unable to (?:verify|get)/

  test.each<
    readonly [mode: string, user: string, parameters: Readonly<Record<string, string>>, outcome: boolean | RegExp]
  >([
    ['nothing said', 'postgres', {}, true],
    ['nothing said, TLS refused', 'needs_plain', {}, false],
    ['disable', 'postgres', { sslmode: 'disable' }, false],
    [
      'disable, TLS demanded',
      'needs_tls',
      { sslmode: 'disable' },
      /no encryption.*: check the user of the URL, and pg_hba.conf/,
    ],
    ['allow', 'postgres', { sslmode: 'allow' }, false],
    ['allow, TLS demanded', 'needs_tls', { sslmode: 'allow' }, true],
    ['prefer', 'needs_tls', { sslmode: 'prefer' }, true],
    ['require', 'postgres', { sslmode: 'require' }, true],
    ['require, TLS refused', 'needs_plain', { sslmode: 'require' }, /SSL encryption|no pg_hba.conf entry/],
    ['require with the right authority', 'postgres', { sslmode: 'require', ...authority }, true],
    ['require with another authority', 'postgres', { sslmode: 'require', ...stranger }, untrusted],
    ['verify-ca', 'postgres', { sslmode: 'verify-ca', ...authority }, true],
    ['verify-ca with another authority', 'postgres', { sslmode: 'verify-ca', ...stranger }, untrusted],
    ['verify-ca without any', 'postgres', { sslmode: 'verify-ca' }, /needs sslrootcert/],
    [
      'verify-full, another name',
      'postgres',
      { sslmode: 'verify-full', ...authority },
      /does not match|verify-ca the name/,
    ],
    ['verify-full with the authorities of Node', 'postgres', { sslmode: 'verify-full' }, untrusted],
    ['no-verify', 'postgres', { sslmode: 'no-verify', ...stranger }, true],
    ['a mode that does not exist', 'postgres', { sslmode: 'verify_full' }, /is none of .*did you mean verify-full\?/],
    [
      'a file that is not there',
      'postgres',
      { sslmode: 'require', sslrootcert: '/nope' },
      /sslrootcert: \/nope cannot be read \(ENOENT\)/,
    ],
    [
      'a certificate of the client',
      'needs_cert',
      { sslmode: 'require', sslcert: file('client.crt'), sslkey: file('client.key') },
      true,
    ],
    ['a certificate without its key', 'needs_cert', { sslmode: 'require', sslcert: file('client.crt') }, /sslkey/],
    ['no certificate where one is demanded', 'needs_cert', { sslmode: 'require' }, /certificate/],
    ['no password', 'needs_password', {}, /has no password, and the server asks for one/],
  ])('is as asked: %s', async (_mode, user, parameters, outcome) => {
    const found = await reach(urlOf(user, parameters))
    if (typeof outcome === 'boolean') expect(found).toBe(outcome)
    else expect(found).toMatch(outcome)
  })

  test('verify-full compares the name', async () => {
    expect(await reach(urlOf('postgres', { sslmode: 'verify-full', ...authority }, 'localhost'))).toBe(true)
  })

  test('is that of the environment where the URL says nothing', async () => {
    expect(await reach(urlOf('postgres', {}), { PGSSLMODE: 'disable' })).toBe(false)
    expect(await reach(urlOf('postgres', {}), { PGSSLMODE: 'verify-ca', PGSSLROOTCERT: file('stranger.crt') })).toMatch(
      untrusted,
    )
  })

  test('is found once, not with every connection', async () => {
    const tried: Encryption[] = []
    const server = serverOf(urlOf('needs_plain', {}), {}, bare)
    const open = () =>
      server.connect({
        connect: async ({ ssl }) => {
          tried.push(ssl === false ? false : {})
          if (ssl !== false) throw new Error('The server does not support SSL connections')
          return new pg.Client()
        },
        end: () => undefined,
      })
    await open()
    await open()
    expect(tried).toEqual([{}, false, false])
  })

  test('holds for requests, our own statements and cancels alike', async () => {
    const database = openDatabase({
      url: urlOf('needs_tls', { sslmode: 'verify-ca', ...authority }),
      schemas: ['public'],
      statementTimeout: 30_000,
    })
    await database.ping()
    expect(await database.pooler()).toBe('none')
    const { rows } = await database.query<Reached>(
      'select bool_and(ssl) as encrypted from pg_catalog.pg_stat_ssl where ssl is not null and pid = pg_backend_pid()',
    )
    expect(rows).toEqual([{ encrypted: true }])
    await database.close()
  })

  test('faults are reported as they are', async () => {
    expect(await reach(`postgres://needs_password:wrong@127.0.0.1:${cluster.port}/postgres`)).toBe(
      'password authentication failed for user "needs_password": check the user and the password of the URL',
    )
    expect(await reach(`postgres://postgres@127.0.0.1:${cluster.port}/nope`)).toBe(
      'database "nope" does not exist: check the name of the database in the URL',
    )
    expect(await reach('postgres://postgres@127.0.0.1:1/postgres')).toBe(
      'connect ECONNREFUSED 127.0.0.1:1: nothing listens there; check host and port',
    )
    expect(await reach('postgres://postgres@no-such-host.invalid/postgres')).toMatch(
      /no-such-host\.invalid: (?:the host does not exist|the name server)/,
    )
  })
})
