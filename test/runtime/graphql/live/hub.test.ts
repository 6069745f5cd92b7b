import { setImmediate as turn } from 'node:timers/promises'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ChangeFeed, ChangeListener } from '../../../../runtime/contract/live.ts'
import { objectId } from '../../../../runtime/contract/facts.ts'
import { failureResponse } from '../../../../runtime/graphql/protocol/failures.ts'
import type { GraphqlResponse } from '../../../../runtime/graphql/protocol/request-and-answer.ts'
import { createHub, type Hub, type HubParts } from '../../../../runtime/graphql/live/streams/hub.ts'
import type { LiveStream, StreamSink } from '../../../../runtime/graphql/live/streams/stream-types.ts'

/** The hub alone: its actions and their order, whatever the order in which commits, changes and runs come. */

const request = {
  query: 'subscription { a }',
  operationName: null,
  variables: {},
  extensions: {},
  queryOnly: false,
} as const
const posts = { schema: 'public', name: 'posts' }
const told = [{ relation: objectId('public', 'posts'), values: new Map() }]

interface Heard {
  readonly sink: StreamSink
  readonly answers: string[]
  readonly ends: (string | undefined)[]
}

const hear = (isWritable: () => boolean = () => true): Heard => {
  const answers: string[] = []
  const ends: (string | undefined)[] = []
  const sink: StreamSink = {
    isWritable,
    next: ({ body }) => answers.push(body.toString()),
    unchanged: () => answers.push('unchanged'),
    failed: ({ code }) => ends.push(code),
    stopped: () => ends.push('stopped'),
  }
  return { sink, answers, ends }
}

const create = ({
  feed,
  ...parts
}: Partial<HubParts> & { readonly feed?: Partial<ChangeFeed> }): {
  readonly hub: Hub
  readonly listener: ChangeListener
} => {
  let listener: ChangeListener | null = null
  const hub = createHub({
    follow: (to) => {
      listener = to
      return {
        watch: () => Promise.resolve(),
        unwatch: () => undefined,
        fault: () => null,
        close: () => Promise.resolve(),
        ...feed,
      }
    },
    read: async () => ({ interests: [{ relation: posts, pins: [] }], revision: undefined }),
    answer: async () => ({ outcome: 'ok', body: '{"data":1}' }),
    lag: () => undefined,
    ...parts,
    limits: { streams: 100, streamsOfParty: 50, runs: 2, pauseMs: 0, runMs: 0, watchMs: 5_000, ...parts.limits },
  })
  if (listener === null) throw new Error('nobody follows')
  return { hub, listener }
}

const owner = (party = 'ada') => ({
  party,
  kind: 'member' as const,
  caller: { role: 'a', claims: `{"sub":"${party}"}` },
})

const open = (hub: Hub, heard: Heard, party?: string): LiveStream => {
  const opened = hub.open(request, owner(party), { lastId: null }, heard.sink)
  if ('outcome' in opened) throw new Error(opened.code)
  return opened
}

interface Gated {
  readonly stream: LiveStream
  readonly gate: { isOpen: boolean }
}

const unblock = (streams: readonly Gated[]): void => {
  for (const { gate, stream } of streams) {
    gate.isOpen = true
    stream.ready()
  }
}

const settled = async (): Promise<void> => {
  for (let step = 0; step < 50; step += 1) await turn()
}

describe('a hub', () => {
  it('loses no commit, and sends no answer out of order or twice', async () => {
    const action = fc.constantFrom(
      'commit',
      'tell',
      'join',
      'join',
      'step',
      'step',
      'outage',
      'block',
      'unblock',
      'leave',
    )
    await fc.assert(
      fc.asyncProperty(fc.array(action, { maxLength: 40 }), fc.scheduler(), async (actions, scheduler) => {
        let state = 0
        let isAway = false
        const answer = async (): Promise<GraphqlResponse> => {
          await scheduler.schedule(Promise.resolve(), 'begin')
          if (isAway) return failureResponse('DATABASE_UNAVAILABLE', 'away')
          const seen = state
          await scheduler.schedule(Promise.resolve(), 'end')
          return { outcome: 'ok', body: String(seen) }
        }
        const { hub, listener } = create({ answer })
        const streams: (Gated & { readonly heard: Heard; readonly since: number })[] = []
        for (const next of actions) {
          if (next === 'commit') state += 1
          if (next === 'tell') listener.changed(told)
          if (next === 'join') {
            const gate = { isOpen: true }
            const heard = hear(() => gate.isOpen)
            streams.push({ heard, since: state, gate, stream: open(hub, heard) })
          }
          if (next === 'step' && scheduler.count() > 0) await scheduler.waitOne()
          if (next === 'outage') isAway = !isAway
          if (next === 'block') for (const { gate } of streams) gate.isOpen = false
          if (next === 'unblock') unblock(streams)
          if (next === 'leave') streams.shift()?.stream.close()
          await turn()
        }
        isAway = false
        unblock(streams)
        listener.changed(told)
        await scheduler.waitIdle()
        await settled()
        await scheduler.waitIdle()
        for (const { heard, since } of streams) {
          const numbers = heard.answers.map(Number)
          if (heard.ends.length > 0) continue
          expect(numbers.at(-1)).toBe(state)
          expect(numbers[0]).toBeGreaterThanOrEqual(since)
          expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b))
        }
        hub.stop()
      }),
      { numRuns: 300 },
    )
  })

  it.each(['DATABASE_UNAVAILABLE', 'OVERLOADED', 'DATABASE_CONFLICT'] as const)(
    'ends a stream without an answer by %s, and keeps one that has an answer',
    async (code) => {
      let isAway = false
      let state = 1
      const answer = async (): Promise<GraphqlResponse> =>
        isAway ? failureResponse(code, 'away') : { outcome: 'ok', body: String(state) }
      const { hub, listener } = create({ answer })
      const before = hear()
      open(hub, before)
      await settled()
      isAway = true
      state = 2
      listener.changed(told)
      await settled()
      const late = hear()
      open(hub, late)
      await settled()
      expect(late.ends).toEqual([code])
      expect(before.ends).toEqual([])
      isAway = false
      while (before.answers.length < 2) await turn()
      expect(before.answers).toEqual(['1', '2'])
      hub.stop()
      expect(before.ends).toEqual(['stopped'])
    },
  )

  it('reads again what has another name by now, and refuses what is not reported on the newest schema', async () => {
    let [name, revision, reads] = ['posts', 1, 0]
    const { hub } = create({
      read: async () => {
        reads += 1
        return { interests: [{ relation: { schema: 'public', name }, pins: [] }], revision: `${revision}` }
      },
      answer: async () => ({ outcome: 'ok', body: name, revision: `${revision}` }),
      feed: {
        watch: async (relation) => {
          if (relation.name === 'moved') return
          // It is renamed before it is watched.
          if (name === 'posts') [name, revision] = ['moved', 2]
          throw new Error('its changes are not reported')
        },
      },
    })
    const heard = hear()
    open(hub, heard)
    await settled()
    expect([heard.answers, heard.ends, reads]).toEqual([['moved'], [], 2])
    name = 'gone'
    const refused = hear()
    hub.open({ ...request, query: 'subscription { b }' }, owner(), { lastId: null }, refused.sink)
    await settled()
    expect([refused.answers, refused.ends, reads]).toEqual([[], ['NOT_LIVE'], 4])
  })

  it('refuses what is too many, and forgets who left', async () => {
    const { hub } = create({ limits: { streams: 3, streamsOfParty: 2, runs: 1, pauseMs: 0, runMs: 0, watchMs: 5_000 } })
    const streams = [open(hub, hear()), open(hub, hear())]
    expect(() => open(hub, hear())).toThrow('OVERLOADED')
    streams.push(open(hub, hear(), 'bob'))
    expect(() => open(hub, hear(), 'eve')).toThrow('OVERLOADED')
    expect(hub.stats().refused).toEqual({ party: 1, all: 1, memory: 0 })
    for (const stream of streams) stream.close()
    expect(hub.stats()).toMatchObject({ streams: 0, watches: 0 })
    open(hub, hear())
    hub.stop()
  })

  it('gives up the run of a watch without streams', async () => {
    let gone: (() => boolean) | null = null
    const { hub } = create({
      answer: (_request, _caller, context) => {
        gone = () => context?.aborted === true
        return new Promise(() => undefined)
      },
    })
    const stream = open(hub, hear())
    await settled()
    stream.close()
    expect((gone as (() => boolean) | null)?.()).toBe(true)
  })

  it.each([1, 2])('lets others run while watches wait for the feed, with %i places', async (runs) => {
    const { hub } = create({
      feed: { watch: ({ name }) => (name === 'slow' ? new Promise(() => undefined) : Promise.resolve()) },
      read: async ({ operationName }) => ({
        interests: [{ relation: { schema: 'public', name: operationName ?? '' }, pins: [] }],
        revision: undefined,
      }),
      limits: { streams: 9, streamsOfParty: 9, runs, pauseMs: 0, runMs: 0, watchMs: 60_000 },
    })
    const [fast, slow] = [hear(), hear()]
    for (let number = 0; number < 4; number += 1)
      hub.open({ ...request, query: `{ a${number} }`, operationName: 'slow' }, owner(), { lastId: null }, slow.sink)
    hub.open({ ...request, operationName: 'fast' }, owner('bob'), { lastId: null }, fast.sink)
    await settled()
    expect([fast.answers.length, slow]).toMatchObject([1, { answers: [], ends: [] }])
    hub.stop()
  })

  it('waits for a silent feed no longer than is said, and lets others run', async () => {
    const watched: string[] = []
    let isSilent = true
    let readings = 0
    const { hub } = create({
      feed: {
        watch: async ({ name }) => {
          watched.push(name)
          if (isSilent && name === 'slow') await new Promise(() => undefined)
        },
        unwatch: ({ name }) => void watched.splice(watched.indexOf(name), 1),
      },
      read: async (_request, { role }) => {
        readings += 1
        return { interests: [{ relation: { schema: 'public', name: role }, pins: [] }], revision: undefined }
      },
      limits: { streams: 9, streamsOfParty: 9, runs: 1, pauseMs: 0, runMs: 0, watchMs: 20 },
    })
    const openAs = (role: string, heard: Heard) =>
      hub.open(request, { ...owner(role), caller: { role, claims: '{}' } }, { lastId: null }, heard.sink)
    const [slow, fast, later] = [hear(), hear(), hear()]
    openAs('slow', slow)
    openAs('fast', fast)
    while (slow.ends.length === 0 || fast.answers.length === 0) await turn()
    expect([slow.ends, slow.answers, fast.ends, watched]).toEqual([['DATABASE_UNAVAILABLE'], [], [], ['fast']])
    isSilent = false
    openAs('slow', later)
    while (later.answers.length === 0) await turn()
    expect([later.ends, readings]).toEqual([[], 3])
    hub.stop()
    expect(watched).toEqual([])
  })

  it('makes two runs of a burst at most, and one of changes that are reported together', async () => {
    let [state, runs] = [0, 0]
    let held: Promise<void> | null = null
    const { hub, listener } = create({
      answer: async () => {
        runs += 1
        const body = String(state)
        await held
        return { outcome: 'ok', body }
      },
    })
    const heard = hear()
    open(hub, heard)
    await settled()
    state = 1
    listener.changed(Array.from({ length: 100 }, () => told).flat())
    await settled()
    expect([runs, heard.answers]).toEqual([2, ['0', '1']])
    let resolve: () => void = () => undefined
    held = new Promise((release) => (resolve = release))
    for (state = 2; state < 100; state += 1) {
      listener.changed(told)
      await turn()
    }
    resolve()
    await settled()
    expect([runs, heard.answers]).toEqual([4, ['0', '1', '2', '100']])
  })

  it('runs a watch twenty times a second at most', async () => {
    let runs = 0
    const { hub, listener } = create({
      answer: async () => ({ outcome: 'ok', body: String((runs += 1)) }),
      limits: { streams: 9, streamsOfParty: 9, runs: 1, pauseMs: 10_000, runMs: 0, watchMs: 5_000 },
    })
    open(hub, hear())
    await settled()
    for (let change = 0; change < 5; change += 1) {
      listener.changed(told)
      await settled()
    }
    expect(runs).toBe(1)
    hub.stop()
  })
})
