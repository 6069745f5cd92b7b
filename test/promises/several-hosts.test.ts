import pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { serveStanding, type HttpService } from '../support/asked.ts'
import { endAll } from '../support/hosts/end-all.ts'
import { fair } from '../support/hosts/line.ts'
import { openSeveralHosts, outages, usual, type LineName, type SeveralHosts } from '../support/hosts/several.ts'
import { titled } from '../support/programs.ts'
import { createRandom, type Random } from '../support/random.ts'
import { topologyNamed } from '../support/topologies.ts'
import { sized } from '../support/whole.ts'

/**
 * Promise: whatever befalls the lines between the hosts of a server, a pooler, a primary and a replica, no answer is older than it
 * may be, anyone who has written reads it, nothing is done twice, and all is well once the lines are. HOSTS_SEED repeats what befalls
 * them; HOSTS_MINUTES is for how long.
 */
const seed = Number(process.env['HOSTS_SEED'] ?? Date.now() % 1_000_000)
const seconds = Number(process.env['HOSTS_MINUTES'] ?? sized(0.25, 0.06)) * 60

const sql = `
  create table note (id int generated always as identity primary key, writer int not null, turn int not null);
  grant usage on schema public to anon;
  grant select, insert on note to anon;
`
const missing = topologyNamed('hosts').missing()

/** Where a write stands among those of all writers. */
const placeOf = (writer: number, turn: number): string => `${writer}.${turn}`

interface Written {
  readonly place: string
  /** When it was answered, by performance.now; Infinity: it failed, and may be there nevertheless. */
  readonly at: number
}

interface Seen {
  readonly missed: string[]
  /** Code of an answer -> how often. */
  readonly outcomes: Map<string, number>
  readonly written: Written[]
}

describe.skipIf(missing !== null)(titled('several hosts', missing), () => {
  let hosts: SeveralHosts
  let service: HttpService
  /** Of the primary, on a line of its own. */
  let direct: pg.Client
  const endings: (() => Promise<unknown>)[] = []
  const open = async (): Promise<void> => {
    hosts = await openSeveralHosts({ sql })
    endings.push(hosts.drop)
    service = await serveStanding(hosts, { REQUEST_TIMEOUT_MS: '8000' })
    endings.push(service.stop)
    direct = new pg.Client(hosts.ownerUrl)
    endings.push(() => direct.end())
    await direct.connect()
  }
  let opening: Promise<void>
  beforeAll(() => (opening = open()), 120_000)
  afterAll(async () => {
    // It goes on where it took too long.
    await opening.catch(() => undefined)
    await endAll(endings)
  })

  const insert = (writer: number, turn: number): string =>
    `mutation { insertIntonoteCollection(objects: [{ writer: ${writer}, turn: ${turn} }]) { affectedCount } }`
  /** Of all rows, or of one writer's last ones. */
  const select = (filter = ''): string =>
    `{ noteCollection(last: 20${filter}, orderBy: [{ id: AscNullsLast }]) { edges { node { writer turn } } } }`
  const placesIn = (data: any): readonly string[] =>
    data.noteCollection.edges.map(({ node }: { node: { writer: number; turn: number } }) =>
      placeOf(node.writer, node.turn),
    )
  const read = async (): Promise<readonly string[]> => {
    const { data, errors } = await service.graphql(select())
    expect(errors).toBeUndefined()
    return placesIn(data)
  }
  const part = (name: LineName): void => hosts.lines[name].set({ ...fair, parted: true })
  const mend = (name: LineName): void => hosts.lines[name].set(usual)
  const untilReplica = async (): Promise<void> => {
    const before = await service.byReplicas()
    const asked = async (): Promise<number> => (await service.graphql(select()), service.byReplicas())
    await expect.poll(asked, { timeout: 20_000 }).toBeGreaterThan(before)
  }
  beforeEach(untilReplica)

  it('a replica that hears nothing of its primary is left out, and taken back', { timeout: 60_000 }, async () => {
    part('replica to primary')
    await direct.query('insert into note (writer, turn) values (-1, 1)')
    // The caller did not write it: until the replica counts as late, it answers.
    await expect.poll(read, { timeout: hosts.staleMs + 10_000 }).toContain(placeOf(-1, 1))
    const before = await service.byReplicas()
    expect(await read()).toContain(placeOf(-1, 1))
    expect(await service.byReplicas()).toBe(before)
    mend('replica to primary')
    await untilReplica()
    expect(await read()).toContain(placeOf(-1, 1))
  })

  it('a silent replica delays no request for long', { timeout: 60_000 }, async () => {
    part('server to replica')
    // The first one was under way when it became silent.
    for (let left = 3; left > 0; left -= 1) await read()
    mend('server to replica')
    await untilReplica()
  })

  it('without the primary a replica answers for as long as it may', { timeout: 60_000 }, async () => {
    part('pooler to primary')
    const before = await service.byReplicas()
    await read()
    expect(await service.byReplicas()).toBe(before + 1)
    const codeOf = async (): Promise<unknown> => (await service.graphql(select())).errors?.[0]?.extensions.code
    await expect.poll(codeOf, { timeout: 30_000 }).toMatch(new RegExp(outages.join('|')))
    mend('pooler to primary')
    await untilReplica()
  })

  /** Writes, and looks for the last of what all have written: they share an address, and so are one party. */
  const call = async (writer: number, until: number, random: Random, seen: Seen): Promise<void> => {
    for (let turn = 0; performance.now() < until; turn += 1) {
      const wrote = await service.graphql(insert(writer, turn))
      const code = wrote.errors?.[0]?.extensions.code ?? 'ok'
      seen.outcomes.set(code, (seen.outcomes.get(code) ?? 0) + 1)
      seen.written.push({ place: placeOf(writer, turn), at: code === 'ok' ? performance.now() : Infinity })
      for (let left = 1 + random(4); left > 0; left -= 1) {
        const before = performance.now()
        const own = seen.written.filter(({ place, at }) => at < before && place.startsWith(`${writer}.`)).slice(-5)
        const { data, errors } = await service.graphql(select(`, filter: { writer: { eq: ${writer} } }`))
        const outcome = errors?.[0]?.extensions.code ?? 'ok'
        seen.outcomes.set(outcome, (seen.outcomes.get(outcome) ?? 0) + 1)
        if (outcome !== 'ok') continue
        const found = new Set(placesIn(data))
        for (const { place } of own) if (!found.has(place)) seen.missed.push(place)
      }
    }
  }

  it(
    `serve while lines are slow, lossy, parted and cut (HOSTS_SEED=${seed})`,
    { timeout: seconds * 1_000 + 120_000 },
    async () => {
      const seen: Seen = { missed: [], outcomes: new Map(), written: [] }
      const byReplicas = await service.byReplicas()
      const calm = hosts.upset?.(createRandom(seed))
      const until = performance.now() + seconds * 1_000
      await Promise.all([0, 1, 2, 3, 4, 5].map((writer) => call(writer, until, createRandom(seed + writer), seen)))
      await calm?.()
      await untilReplica()
      const { rows } = await direct.query('select writer, turn, count(*)::int as times from note group by 1, 2')
      const times = new Map(rows.map((row) => [placeOf(row.writer, row.turn), Number(row.times)]))
      console.info(`several hosts: ${(await service.byReplicas()) - byReplicas} answers by the replica,`, seen.outcomes)
      expect(seen.missed).toEqual([])
      expect([...times].filter(([, count]) => count > 1)).toEqual([])
      expect(seen.written.filter(({ place, at }) => at < Infinity && !times.has(place))).toEqual([])
      expect([...seen.outcomes.keys()].filter((code) => code !== 'ok' && !outages.includes(code))).toEqual([])
      expect(seen.outcomes.get('ok') ?? 0).toBeGreaterThan(50)
    },
  )
})
