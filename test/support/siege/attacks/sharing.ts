import { httpRequest } from '../../../../bench/support/http-client.ts'
import type { Arms, Attack } from '../arms.ts'
import { asking } from '../callers.ts'
import { openAdmin } from '../town.ts'

/** Resources that callers share (docs/sharing.md): attackers take as much of them as they get. */

/** Opens streams that stay until the attack ends. */
const openStreams = async (arms: Arms, bodies: readonly object[]): Promise<void> => {
  const [address, headers] = [arms.address(), { ...arms.anon.headers, accept: 'text/event-stream' }]
  for (const body of bodies) {
    const socket = await arms.open(address)
    socket?.resume()
    socket?.write(httpRequest({ path: '/graphql/v1', headers, body }))
  }
}

const slowStreams: Attack['run'] = async (arms) => {
  const ids = Array.from({ length: 12 }, (_, index) => index + 2)
  await openStreams(
    arms,
    ids.map((id) => ({ query: `subscription { channelsByPk(id: ${id}) { heavy } }` })),
  )
  await arms.rest(60_000)
}

/** Every change makes twenty patches of answers of 200 kB. */
const patches: Attack['run'] = async (arms) => {
  const names = Array.from({ length: 450 }, (_, index) => `a${index}: name`).join(' ')
  const extensions = { live: { patch: true } }
  const pages = Array.from({ length: 20 }, (_, index) => index + 30)
  const queryOf = (most: number): string =>
    `subscription { channelsCollection(first: ${most}) { edges { node { ${names} } } } }`
  await openStreams(
    arms,
    pages.map((most) => ({ query: queryOf(most), extensions })),
  )
  while (!arms.isOver()) {
    await arms.town.admin('update channels set name = $1 where id = 1', [`name ${arms.random(1e9)}`])
    await arms.rest(100)
  }
}

/** One person asks for rows of the locked table and opens streams of them, until the attack is over. */
const askLocked = async (arms: Arms): Promise<void> => {
  const [caller, address] = [arms.stranger(), arms.address()]
  const watching = { ...caller, headers: { ...caller.headers, accept: 'text/event-stream' } }
  const [asks, streams] = [16, 4]
  await Promise.all([
    ...Array.from({ length: asks }, async () => {
      const bytes = asking(caller, '{ lockedCollection(first: 10) { edges { node { id } } } }')
      while (!arms.isOver()) await arms.ask(bytes, { address })
    }),
    ...Array.from({ length: streams }, async () => {
      while (!arms.isOver()) {
        const query = `subscription { lockedByPk(id: ${1 + arms.random(1_000)}) { id } }`
        await arms.ask(asking(watching, query), { address, patienceMs: 1_500 })
      }
    }),
  ])
}

const lockedTable: Attack['run'] = async (arms) => {
  const lock = 'do $$ begin lock table locked in access exclusive mode; perform pg_sleep(2); end $$'
  const locking = async (): Promise<void> => {
    while (!arms.isOver()) {
      await arms.town.admin(lock)
      await arms.rest(200)
    }
  }
  await Promise.all([locking(), askLocked(arms)])
}

/** The change of the table waits for the reader, and requests for both. */
const migration: Attack['run'] = async (arms) => {
  const [reader, owner] = [openAdmin(arms.town.adminUrls[0] ?? ''), openAdmin(arms.town.adminUrls[0] ?? '')]
  const migrating = async (): Promise<void> => {
    for (let turn = 0; !arms.isOver(); turn += 1) {
      const reading = reader.query('do $$ begin perform from locked; perform pg_sleep(2); end $$')
      await arms.rest(200)
      await Promise.all([reading, owner.query(`alter table locked add column c${turn} int`)])
      await owner.query(`alter table locked drop column c${turn}`)
    }
  }
  await Promise.all([migrating(), askLocked(arms)]).finally(() => Promise.all([reader.end(), owner.end()]))
}

const sixtySignIns: Attack['run'] = async (arms) => {
  const headers = { apikey: arms.town.keys.anon }
  const signIn = (email: string, password: string): Buffer =>
    httpRequest({ path: '/auth/v1/token?grant_type=password', headers, body: { email, password } })
  const flood = Array.from({ length: 60 }, async () => {
    while (!arms.isOver()) await arms.ask(signIn(`nobody${arms.random(1e6)}@example.com`, 'a wrong password'))
  })
  await Promise.all(flood)
}

export const sharing: readonly Attack[] = [
  {
    name: 'slow streams',
    does: 'one address watches twelve queries of half a minute',
    relaxes: {},
    run: slowStreams,
  },
  {
    name: 'patched streams',
    does: 'one address watches twenty answers of 200 kB as patches, which change all the time',
    relaxes: {},
    run: patches,
  },
  {
    name: 'a locked table',
    does: 'one person asks for and watches a table that is locked for two seconds again and again',
    relaxes: {},
    run: lockedTable,
  },
  {
    name: 'a migration behind a reader',
    does: 'a column is added to a table that a reader holds for two seconds, while one person asks for it and watches it',
    relaxes: {},
    run: migration,
  },
  {
    name: 'sixty sign-ins',
    does: 'sixty addresses at a time sign in with wrong passwords',
    relaxes: {},
    run: sixtySignIns,
  },
]
