import { setTimeout as pause } from 'node:timers/promises'
import { messageOf } from '../../../runtime/lib/text.ts'
import { openEvents, type EventClient } from '../event-client.ts'
import type { Random } from '../random.ts'
import { people, type Caller } from './callers.ts'
import type { Verdicts } from './checks.ts'
import type { Sample } from './honest.ts'
import { pulseCount } from './schema.ts'
import type { Stalls } from './stalls.ts'
import { openAdmin, type Town } from './town.ts'

/** Honest live queries: one stream that stays and is sent a change several times a second, and new streams of others. */
export interface HonestStreams {
  /** By name `change` and `new stream`: of those that were due since then. */
  readonly since: (moment: number) => readonly Sample[]
  readonly stop: () => Promise<void>
}

export interface HonestStreamParts {
  readonly town: Town
  readonly random: Random
  readonly verdicts: Verdicts
  readonly stalls: Stalls
  /** The time limit of a change or of a first answer, in milliseconds. */
  readonly promptMs: number
}

const changeEveryMs = 100
const openEveryMs = 200
const mostSamples = 10_000

export function startHonestStreams({ town, random, verdicts, stalls, promptMs }: HonestStreamParts): HonestStreams {
  const [admin, persons, samples] = [openAdmin(town.adminUrls[0] ?? ''), people(town), [] as Sample[]]
  let stopped = false

  const open = ({ headers }: Caller, id: number): Promise<EventClient> =>
    openEvents(
      `http://127.0.0.1:${town.server.port}/graphql/v1`,
      { query: 'subscription Pulse($id: Int!) { pulsesByPk(id: $id) { beat } }', variables: { id } },
      headers,
    )

  /** Does it, and notes how long it took; false: it failed or came late. */
  const timed = async (name: string, work: () => Promise<string | null>, due = performance.now()): Promise<boolean> => {
    const late = pause(promptMs, `did not come within ${promptMs} ms`, { ref: false })
    const fault = await Promise.race([work().catch(messageOf), late])
    const ms = performance.now() - due
    const wasHeld = ms >= promptMs && ms - stalls.since(due) < promptMs
    if (stopped) return false
    if (fault !== null && !wasHeld) verdicts.fail('heard', `${name}: ${fault}`, due)
    samples.push({ due, ms, ok: fault === null, name, newcomer: false })
    if (samples.length > mostSamples) samples.splice(0, mostSamples / 10)
    return fault === null
  }

  const firstAnswer = async (stream: EventClient): Promise<string | null> => {
    if (!stream.type.startsWith('text/event-stream')) return (await stream.body()).slice(0, 200)
    const event = await stream.next()
    return event?.event === 'next' ? null : (event?.data ?? `it ended: ${stream.status}`)
  }

  const untilHeard = async (stream: EventClient, beat: number): Promise<string | null> => {
    for (let event = await stream.next(); event !== null; event = await stream.next())
      if (event.data.includes(`"beat": ${beat}`) || event.data.includes(`"beat":${beat}`)) return null
    return 'the stream ended'
  }

  const leave = (opening: Promise<EventClient> | null): void =>
    void opening?.then(
      ({ close }) => close(),
      () => undefined,
    )

  const stay = async (): Promise<void> => {
    let opening: Promise<EventClient> | null = null
    for (let beat = 1; !stopped; beat += 1) {
      const stream: Promise<EventClient> = (opening ??= open(persons[0] as Caller, 1))
      const heard = await timed('change', async () => {
        await stream
        await admin.query('update pulses set beat = $1 where id = 1', [beat])
        return untilHeard(await stream, beat)
      })
      if (!heard) {
        leave(stream)
        opening = null
      }
      await pause(changeEveryMs)
    }
    leave(opening)
  }

  const come = async (): Promise<void> => {
    for (let id = 2; !stopped; id = 2 + (id % (pulseCount - 1))) {
      const due = performance.now()
      const stream = open(persons[1 + random(persons.length - 1)] as Caller, id)
      await timed('new stream', async () => firstAnswer(await stream), due)
      leave(stream)
      await pause(openEveryMs)
    }
  }

  const running = Promise.all([stay(), come()])
  return {
    since: (moment) => samples.filter(({ due }) => due >= moment),
    stop: async () => {
      stopped = true
      await running
      await admin.end()
    },
  }
}
