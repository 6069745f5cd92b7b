import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import { expect, test } from 'vitest'
import { openDatabase, type Database } from '../../../../runtime/db/pool/pool.ts'
import { createDatabase } from '../../../support/database.ts'
import { forSuite } from '../../../support/for-suite.ts'

/** A private key without an owner, made for this test. */
const key = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgZzWZOhFNj/C3L16/
iSacYmqD7/TfccDsu1UR0+D6s+GhRANCAAShz0CIYEgw0W+hH5XwBbubsjlNx1rz
Z79ho3LfV8Esa8LPPwD1w7Qq1kXVuH3k40cn8LkSGsztrgtapvOLX6Jw
-----END PRIVATE KEY-----`
const cert = `-----BEGIN CERTIFICATE-----
MIIBdDCCARugAwIBAgIURejj5Mnjam8uPKdAv6IHcNiSEZ4wCgYIKoZIzj0EAwIw
DzENMAsGA1UEAwwEdGVzdDAgFw0yNjExMjIwMDEwMTlaGA8yMTI2MTAyOTAwMTAx
OVowDzENMAsGA1UEAwwEdGVzdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABKHP
QIhgSDDRb6EflfAFu5uyOU3HWvNnv2Gjct9XwSxrws8/APXDtCrWRdW4feTjRyfw
uRIazO2uC1qm84tfonCjUzBRMB0GA1UdDgQWBBTYkqlOFhmKppsQnNxjsRMhtu55
MTAfBgNVHSMEGDAWgBTYkqlOFhmKppsQnNxjsRMhtu55MTAPBgNVHRMBAf8EBTAD
AQH/MAoGCCqGSM49BAMCA0cAMEQCIFHTQ7jAPiPmhenNqRfuiTAO9NFvuAv2QzAS
xTl5okinAiA44+cPhwnWZrmF78sfHRlVWTmq/YMXNPCtk7k1WKp1xw==
-----END CERTIFICATE-----`

/** Speaks TLS in front of a Postgres that does not (PostgreSQL manual 54.2.11: eight bytes ask for it, S agrees). */
const startTlsProxy = async (target: number): Promise<{ readonly port: number; readonly close: () => void }> => {
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    sockets.add(client)
    client.on('error', () => undefined)
    client.once('data', () => {
      client.write('S')
      const secure = new TLSSocket(client, { isServer: true, key, cert })
      const upstream = connect(target, '127.0.0.1')
      secure.on('error', () => upstream.destroy())
      upstream.on('error', () => secure.destroy())
      secure.pipe(upstream).pipe(secure)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const close = (): void => {
    for (const socket of sockets) socket.destroy()
    server.close()
  }
  return { port: (server.address() as AddressInfo).port, close }
}

/** An answer that is longer than what is read at once, and one that is not, both on every connection. */
const askMuch = async (db: Database): Promise<void> => {
  const ask = async (length: number): Promise<void> => {
    const [row] = await db.run({
      caller: { role: 'anon', claims: '{}' },
      version: null,
      readOnly: true,
      statements: [{ name: 'much', text: "select repeat('ä', $1::int)", values: [String(length)] }],
    })
    expect(row?.map(String)).toEqual(['ä'.repeat(length)])
  }
  await Promise.all(Array.from({ length: 30 }, (_, index) => ask(index % 2 === 0 ? 3 + index : 100_000 + index)))
}

const database = forSuite(createDatabase)

test('every answer comes whole over a plain connection', async () => {
  const db = openDatabase({ url: database.url, schemas: ['public'], poolSize: 3 })
  await askMuch(db).finally(db.close)
})

test('every answer comes whole over TLS', async () => {
  const url = new URL(database.url)
  const proxy = await startTlsProxy(Number(url.port))
  url.port = String(proxy.port)
  url.searchParams.set('sslmode', 'no-verify')
  const db = openDatabase({ url: url.href, schemas: ['public'], poolSize: 3 })
  await askMuch(db).finally(db.close).finally(proxy.close)
})
