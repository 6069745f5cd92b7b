import { setTimeout as pause } from 'node:timers/promises'
import { httpRequest } from '../../../../bench/support/http-client.ts'
import { openEvents, type EventClient } from '../../event-client.ts'
import type { Arms, Attack } from '../arms.ts'
import { asking } from '../callers.ts'

/** Resources that callers share (docs/sharing.md): attackers take as much of them as they get, and measure the effect on others. */

const streamOf = ({ port }: Arms['town']['server'], headers: Readonly<Record<string, string>>): Promise<EventClient> =>
  openEvents(`http://127.0.0.1:${port}/graphql/v1`, { query: 'subscription { channelsByPk(id: 1) { name } }' }, headers)

/** Beside other attacks; alone a change comes in some milliseconds. */
const mostMs = 3_000

/** A change comes to an honest stream. */
const expectChange = async (arms: Arms, stream: EventClient, name: string): Promise<void> => {
  const since = performance.now()
  await arms.town.admin('update channels set name = $1 where id = 1', [name])
  const come = async (): Promise<string> => {
    for (;;) {
      const event = await stream.next()
      if (event === null) return 'ended'
      if (event.data.includes(name)) return 'come'
    }
  }
  const late = new AbortController()
  const outcome = await Promise.race([come(), pause(mostMs, 'late', { signal: late.signal })])
  late.abort()
  if (outcome === 'late' && performance.now() - since - arms.stalls.since(since) >= mostMs)
    arms.verdicts.fail('prompt', `a change did not come to a stream within ${mostMs} ms`, since)
}

const watchWhile = async (arms: Arms, attack: (address: string) => Promise<void>): Promise<void> => {
  const stream = await streamOf(arms.town.server, arms.stranger().headers)
  await stream.next()
  await attack(arms.address())
  for (let change = 0; !arms.isOver(); change += 1) {
    await arms.rest(200)
    await expectChange(arms, stream, `name ${arms.random(1e9)}`)
  }
  stream.close()
}

/** Opens streams that stay until the attack ends. */
const openStreams = async (arms: Arms, address: string, documents: readonly string[]): Promise<void> => {
  const headers = { ...arms.anon.headers, accept: 'text/event-stream' }
  for (const document of documents) {
    const socket = await arms.open(address)
    socket?.resume()
    socket?.write(asking({ ...arms.anon, headers }, document))
  }
}

const slowStreams: Attack['run'] = (arms) =>
  watchWhile(arms, (address) =>
    openStreams(
      arms,
      address,
      Array.from({ length: 12 }, (_, id) => `subscription { channelsByPk(id: ${id + 2}) { heavy } }`),
    ),
  )

/** Every change makes twenty patches of answers of 200 kB. */
const patches: Attack['run'] = async (arms) => {
  const names = Array.from({ length: 450 }, (_, index) => `a${index}: name`).join(' ')
  const extensions = { live: { patch: true } }
  await watchWhile(arms, async (address) => {
    const headers = { ...arms.anon.headers, accept: 'text/event-stream' }
    for (let most = 30; most < 50; most += 1) {
      const query = `subscription { channelsCollection(first: ${most}) { edges { node { ${names} } } } }`
      const socket = await arms.open(address)
      socket?.resume()
      socket?.write(httpRequest({ path: '/graphql/v1', headers, body: { query, extensions } }))
    }
  })
}

const lockedTable: Attack['run'] = async (arms) => {
  const lock = 'do $$ begin lock table locked in access exclusive mode; perform pg_sleep(2); end $$'
  const [caller, address] = [arms.stranger(), arms.address()]
  const locking = async (): Promise<void> => {
    while (!arms.isOver()) {
      await arms.town.admin(lock)
      await arms.rest(200)
    }
  }
  const asks = Array.from({ length: 16 }, async () => {
    while (!arms.isOver()) await arms.ask(asking(caller, '{ lockedCollection { edges { node { id } } } }'), { address })
  })
  await Promise.all([locking(), ...asks])
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
    does: 'one address watches twelve queries of half a minute, while a person watches a row',
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
    does: 'one person asks for a table that is locked for two seconds again and again',
    relaxes: {},
    run: lockedTable,
  },
  {
    name: 'sixty sign-ins',
    does: 'sixty addresses at a time sign in with wrong passwords',
    relaxes: {},
    run: sixtySignIns,
  },
]
