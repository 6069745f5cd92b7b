import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { doctorCommand } from '../../compiler/commands/doctor.ts'
import type { Finding } from '../../compiler/commands/advise/doctor/findings.ts'
import { runCommand } from '../support/command.ts'
import { forSuite } from '../support/for-suite.ts'
import { createReplicated, type DatabaseServer, type ReplicatedDatabase } from '../support/replicated.ts'
import { serveBuilt } from '../support/served.ts'

/** Promise: where two servers of one database take writes, it is reported, and never before. */

let all: ReplicatedDatabase
let primary: DatabaseServer
let other: DatabaseServer
beforeAll(async () => {
  all = await createReplicated(1, 'grant usage on schema public to anon')
  primary = all.primary
  other = all.standbys[0] as DatabaseServer
}, 120_000)
afterAll(() => all?.remove())

const remedy = /stop the one whose writes may go, and make it a standby/

const told = async (environment: Readonly<Record<string, string>>): Promise<readonly Finding[]> => {
  const { printed } = await runCommand([doctorCommand], ['doctor', '--json'], {
    environment: {
      CATALOGRAPH_DATA: '/nowhere',
      JWT_SECRET: 'a secret that has more than thirty-two characters',
      DATABASE_URL: primary.url,
      DATABASE_OWNER_URL: primary.ownerUrl,
      ...environment,
    },
  })
  return (JSON.parse(printed) as readonly Finding[]).filter(({ check }) => check === 'hosts' || check === 'replicas')
}

describe('a standby that is promoted while its primary lives', () => {
  const served = forSuite(() =>
    serveBuilt(primary, { DATABASE_REPLICA_URLS: [primary.url, other.url].join(), LOG_LEVEL: 'info' }),
  )

  const health = async (): Promise<any> => (await fetch(`${served.url}/readyz`)).json()
  const list = (): string => `127.0.0.1:${primary.cluster.port},127.0.0.1:${other.cluster.port}`
  const hosts = (names: string): string =>
    `postgresql://authenticator@${names}/replicated?target_session_attrs=read-write`

  it('is a fault of /readyz, of the log and of doctor', async () => {
    await expect.poll(health, { timeout: 20_000 }).toMatchObject({ fault: null, replicas: { serving: 1, all: 2 } })
    await other.query('select pg_promote()')

    await expect.poll(async () => (await health()).fault, { timeout: 20_000 }).toMatch(remedy)
    expect(await health()).toMatchObject({ status: 'ok', replicas: { serving: 0, all: 2 } })
    expect((await health()).fault).toMatch(/^replica 2 of DATABASE_REPLICA_URLS is a second primary/)
    const said = (): string => served.said().join('\n')
    await expect.poll(said).toMatch(/"replica-out".*"replica":2.*a second primary/)
    expect(said()).not.toMatch(/"replica-out".*"replica":1.*a second primary/)

    expect(await told({ DATABASE_REPLICA_URLS: other.url })).toEqual([
      {
        check: 'replicas',
        verdict: 'fault',
        message: 'replica 1 is a second primary',
        fix: expect.stringMatching(remedy),
      },
    ])
    const [one, two] = list().split(',')
    expect(await told({ DATABASE_URL: hosts(list()) })).toContainEqual({
      check: 'hosts',
      verdict: 'fault',
      message: `${one} and ${two} are both primaries of one database`,
      fix: expect.stringMatching(remedy),
    })
  })

  it('is not found where one server has two names', async () => {
    const names = `127.0.0.1:${primary.cluster.port},localhost:${primary.cluster.port}`
    expect((await told({ DATABASE_URL: hosts(names) })).map(({ verdict }) => verdict)).toEqual(['ok', 'ok'])
  })
})
