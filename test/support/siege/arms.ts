import { connect, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { openConnection, type HttpAnswer } from '../../../bench/support/http-client.ts'
import type { Random } from '../random.ts'
import { anonOf, signedIn, type Caller } from './callers.ts'
import type { Relaxations, Verdicts } from './checks.ts'
import { marksOf, type Marks } from './marks.ts'
import type { Stalls } from './stalls.ts'
import type { Town } from './town.ts'

/** The means of attackers. All of them address the loopback interface of the service under test, and end with the attack. */
export interface Arms {
  readonly town: Town
  readonly random: Random
  readonly marks: Marks
  readonly verdicts: Verdicts
  readonly stalls: Stalls
  readonly limits: Limits
  readonly isOver: () => boolean
  /** Sleeps, but not beyond the end of the attack. */
  readonly rest: (ms: number) => Promise<void>
  /** One of many addresses, none of which an honest caller has. */
  readonly address: () => string
  /** A connection; null where the server takes none. */
  readonly open: (address?: string) => Promise<Socket | null>
  /** Asks, waits for the answer and remembers how it was refused; null: there was none. */
  readonly ask: (bytes: Buffer, options?: AskOptions) => Promise<HttpAnswer | null>
  readonly anon: Caller
  /** A signed-in user without earlier requests. */
  readonly stranger: () => Caller
}

export interface AskOptions {
  readonly address?: string
  readonly patienceMs?: number
}

/** The deadlines with which the service under test was started, in milliseconds. */
export interface Limits {
  readonly statementMs: number
  readonly requestMs: number
  readonly writeMs: number
}

export interface Attack {
  readonly name: string
  /** Its effect, as a sentence. */
  readonly does: string
  readonly relaxes: Relaxations
  /** Less than this shows nothing. */
  readonly leastMs?: number
  /** True for what leaves nothing for others to attack. */
  readonly alone?: true
  /** True where sessions of Postgres end that clients or poolers count on. */
  readonly endsSessions?: true
  readonly run: (arms: Arms) => Promise<void>
}

export interface ArmsParts extends Pick<Arms, 'town' | 'random' | 'marks' | 'verdicts' | 'stalls' | 'limits'> {
  readonly durationMs: number
  /** How attackers were refused: by code. */
  readonly refusals: Map<string, number>
}

export interface ArmedAttack {
  readonly arms: Arms
  /** Destroys every connection of the attack: its client has left. */
  readonly disarm: () => void
}

const connectPatienceMs = 2_000

/** Failures that have no name. */
const nameless: ReadonlySet<string> = new Set(['INTERNAL', 'unexpected_failure'])

export const codeOf = ({ status, body }: HttpAnswer): string => {
  // An error may say again what was asked, at length.
  const text = body.toString('latin1', 0, 200) + body.toString('latin1', Math.max(200, body.length - 1_000))
  if (status < 400 && !text.includes('"errors":[')) return 'ok'
  return /"(?:code|error_code)":\s*"(\w+)"/.exec(text)?.[1] ?? `HTTP ${status}`
}

export function arm(parts: ArmsParts): ArmedAttack {
  const { town, random, verdicts, durationMs, refusals } = parts
  const end = performance.now() + durationMs
  const sockets = new Set<Socket>()
  const closing = new Set<() => void>()
  const { marks, leave } = marksOf(parts.marks)
  let [disarmed, strangers] = [false, 0]
  const isOver = (): boolean => disarmed || performance.now() >= end

  const note = (answer: HttpAnswer, since: number): void => {
    const code = codeOf(answer)
    refusals.set(code, (refusals.get(code) ?? 0) + 1)
    const detail = `${answer.status} ${answer.body.toString('utf8', 0, 200)}`
    if (answer.status === 500 || nameless.has(code)) verdicts.fail('coded', detail, since)
  }

  const address = (): string => `127.0.${2 + random(200)}.${1 + random(250)}`
  const arms: Arms = {
    ...parts,
    marks,
    isOver,
    rest: (ms) => pause(Math.max(0, Math.min(ms, end - performance.now()))),
    address,
    open: (from = address()) =>
      new Promise((resolve) => {
        if (disarmed) return resolve(null)
        const options = { host: '127.0.0.1', port: town.server.port, localAddress: from, noDelay: true }
        const socket = connect({ ...options, allowHalfOpen: true })
        sockets.add(socket)
        const giveUp = setTimeout(() => socket.destroy(), connectPatienceMs)
        socket.on('error', () => undefined)
        socket.once('close', () => {
          clearTimeout(giveUp)
          sockets.delete(socket)
          resolve(null)
        })
        socket.once('connect', () => {
          clearTimeout(giveUp)
          resolve(socket)
        })
      }),
    ask: async (bytes, { address: from = address(), patienceMs = 20_000 } = {}) => {
      const since = performance.now()
      try {
        const connection = await openConnection(town.server.port, from)
        const close = (): void => connection.close()
        if (disarmed) close()
        closing.add(close)
        const giveUp = setTimeout(close, patienceMs)
        try {
          const answer = await connection.send(bytes)
          note(answer, since)
          return answer
        } finally {
          clearTimeout(giveUp)
          closing.delete(close)
          close()
        }
      } catch {
        return null
      }
    },
    anon: anonOf(town),
    stranger: () => {
      strangers += 1
      const tail = `${random(65_536).toString(16).padStart(4, '0')}${strangers.toString(16).padStart(8, '0')}`
      return signedIn(town, `00000000-0000-4000-9000-${tail}`)
    },
  }
  const disarm = (): void => {
    disarmed = true
    for (const socket of sockets) socket.destroy()
    for (const close of closing) close()
    leave()
  }
  return { arms, disarm }
}

/** Sends on a connection of its own and leaves after that time, in one way or another. */
export async function sendAndLeave(
  { open, random }: Arms,
  bytes: Buffer,
  afterMs: number,
  address?: string,
): Promise<void> {
  const socket = await open(address)
  if (socket === null) return
  socket.resume()
  socket.write(bytes)
  await pause(afterMs)
  // A reset and an orderly end are both ways to leave.
  if (random(2) === 0) socket.resetAndDestroy()
  else socket.destroy()
}
