import { setTimeout as pause } from 'node:timers/promises'
import { openConnection, type HttpAnswer, type HttpConnection } from '../../../bench/support/http-client.ts'
import { messageOf } from '../../../runtime/lib/text.ts'
import type { Random } from '../random.ts'
import type { Verdicts } from './checks.ts'
import type { Ask, MakeAsk } from './honest-asks.ts'
import type { Stalls } from './stalls.ts'

/** Honest traffic: an open loop from several addresses, every answer of which is looked at. */
export interface Honest {
  /** Of the requests that were due since then and are answered. */
  readonly since: (moment: number) => readonly Sample[]
  /** Of the requests that were due since then and until now, once they are answered or given up. */
  readonly settled: (moment: number) => Promise<readonly Sample[]>
  readonly outstanding: () => number
  /** Tokens of what was written, by how the writing was answered. */
  readonly written: Readonly<Record<Fate, Set<string>>>
  /** Sends no more, and waits for what is out. */
  readonly stop: () => Promise<void>
}

/** Acknowledged, refused, or without an answer that says which. */
export type Fate = 'kept' | 'refused' | 'unknown'

export interface Sample {
  readonly due: number
  readonly ms: number
  readonly ok: boolean
  readonly name: string
  /** It came on a connection of its own. */
  readonly newcomer: boolean
}

export interface HonestParts {
  readonly port: number
  readonly make: MakeAsk
  readonly perSecond: number
  readonly random: Random
  readonly verdicts: Verdicts
  readonly stalls: Stalls
  /** An answer that comes later than this is late. */
  readonly promptMs: number
}

const addresses = ['127.0.1.1', '127.0.1.2', '127.0.1.3', '127.0.1.4', '127.0.1.5'] as const
const patienceMs = 10_000
/** Of so many requests one comes on a connection of its own. */
const newcomerEvery = 10
/** The server closes what was idle for longer, perhaps right when it is used again. */
const idleMs = 20_000
/** Samples that are remembered: of five minutes. */
const mostSamples = 30_000

/** Connections of one address. */
interface Place {
  /** A new connection. */
  readonly come: () => Promise<HttpConnection>
  readonly borrow: () => Promise<HttpConnection>
  readonly giveBack: (connection: HttpConnection) => void
  readonly close: () => void
}

function createPlace(port: number, address: string): Place {
  const idle: { readonly connection: HttpConnection; readonly since: number }[] = []
  const come = (): Promise<HttpConnection> => openConnection(port, address)
  return {
    come,
    borrow: () => {
      for (let last = idle.pop(); last !== undefined; last = idle.pop()) {
        if (performance.now() - last.since < idleMs) return Promise.resolve(last.connection)
        last.connection.close()
      }
      return come()
    },
    giveBack: (connection) => void idle.push({ connection, since: performance.now() }),
    close: () => idle.splice(0).forEach(({ connection }) => connection.close()),
  }
}

/** Anyone who waits for too long leaves. */
const sendPatiently = (place: Place, bytes: Buffer, newcomer: boolean): Promise<HttpAnswer> =>
  new Promise((resolve, reject) => {
    let [held, late] = [null as HttpConnection | null, false]
    const giveUp = setTimeout(() => {
      late = true
      held?.close()
      reject(new Error(`no answer within ${patienceMs} ms`))
    }, patienceMs)
    const work = async (): Promise<void> => {
      const connection = newcomer ? await place.come() : await place.borrow()
      held = connection
      if (late) return connection.close()
      const answer = await connection.send(bytes)
      if (newcomer) connection.close()
      else place.giveBack(connection)
      resolve(answer)
    }
    work()
      .catch(reject)
      .finally(() => clearTimeout(giveUp))
  })

const codeOf = (answer: HttpAnswer): string => {
  const text = answer.body.toString('utf8')
  return /"code":"(\w+)"/.exec(text)?.[1] ?? /"error_code":"(\w+)"/.exec(text)?.[1] ?? text.slice(0, 100)
}

/** Writes that may have been committed although the answer is a failure. */
const tellsNothing: ReadonlySet<string> = new Set(['DATABASE_UNAVAILABLE', 'INTERNAL'])

export function startHonest({ port, make, perSecond, random, verdicts, stalls, promptMs }: HonestParts): Honest {
  const places = addresses.map((address) => createPlace(port, address))
  const samples: Sample[] = []
  const out = new Set<Promise<void>>()
  const written: Honest['written'] = { kept: new Set(), refused: new Set(), unknown: new Set() }
  let [stopped, number] = [false, 0]

  const settle = ({ name, judge, token, promise }: Ask, answer: HttpAnswer, due: number): boolean => {
    const failed = answer.status !== 200 || answer.body.includes('"errors":[')
    if (token !== null) {
      const fate = failed ? (tellsNothing.has(codeOf(answer)) ? 'unknown' : 'refused') : 'kept'
      written[fate].add(token)
    }
    if (failed) verdicts.fail(promise, `${name}: ${answer.status} ${codeOf(answer)}`, due)
    const fault = failed ? null : judge(answer)
    if (fault !== null) verdicts.fail(fault.check, `${name}: ${fault.detail}`, due)
    return !failed && fault === null
  }

  const one = async (ask: Ask, place: Place, newcomer: boolean, due: number): Promise<void> => {
    let ok = false
    try {
      ok = settle(ask, await sendPatiently(place, ask.bytes, newcomer), due)
    } catch (error) {
      if (ask.token !== null) written.unknown.add(ask.token)
      verdicts.fail(ask.promise, `${ask.name}: ${messageOf(error)}`, due)
    }
    const ms = performance.now() - due
    if (ok && ms - stalls.since(due) > promptMs) verdicts.fail('prompt', `${ask.name}: ${Math.round(ms)} ms`, due)
    samples.push({ due, ms, ok, name: ask.name, newcomer })
    if (samples.length > mostSamples) samples.splice(0, mostSamples / 10)
  }

  const send = (): void => {
    number += 1
    const ask = make(random, number)
    const place = places[random(places.length)] as Place
    const running: Promise<void> = one(ask, place, random(newcomerEvery) === 0, performance.now()).finally(() =>
      out.delete(running),
    )
    out.add(running)
  }

  const arrive = async (): Promise<void> => {
    let due = performance.now()
    while (!stopped) {
      due += (-Math.log(1 - random(1_000_000) / 1_000_000) * 1_000) / perSecond
      const wait = due - performance.now()
      if (wait > 0) await pause(wait)
      if (!stopped) send()
    }
  }
  const arriving = arrive()

  const since = (moment: number): readonly Sample[] => samples.filter(({ due }) => due >= moment)
  return {
    since,
    settled: async (moment) => {
      const until = performance.now()
      await Promise.all(out)
      return since(moment).filter(({ due }) => due <= until)
    },
    outstanding: () => out.size,
    written,
    stop: async () => {
      stopped = true
      await arriving
      await Promise.all(out)
      for (const { close } of places) close()
    },
  }
}
