import type { Exchange, RequestContext } from '../../contract/execution.ts'
import type { ByteBudget, ByteOwner } from '../../lib/byte-budget.ts'
import { createLru } from '../../lib/caches.ts'
import type { Grow } from '../wire/exchange.ts'

/** The memory that answers share, as far as the database sees to it. */
export interface AnswerMemory {
  /** Of the answers. */
  readonly usage: ByteBudget['usage']
  /** How many exchanges are remembered whose last answer was large. */
  readonly large: { readonly count: number }
  /** Whether there is room for what an exchange is likely to answer: as much as the same one did the last time. */
  readonly isAvailable: (exchange: Exchange, context: Context) => boolean
  /** Waits until there is; false when there is none within so many milliseconds. */
  readonly wait: (exchange: Exchange, context: Context, ms: number) => Promise<boolean>
  /** For an answer that has become large. */
  readonly track: (exchange: Exchange, context: Context) => TrackedAnswer
  /** Called for an answer that stayed small. */
  readonly onSmallAnswer: (exchange: Exchange, context: Context) => void
}

type Context = RequestContext | undefined

export interface TrackedAnswer {
  readonly grow: Grow
  /** Releases the bytes; the holder of the answer counts them from now on. */
  readonly end: () => void
}

export interface AnswerMemoryOptions {
  readonly answers: ByteBudget
  /** Answers that may stay with Postgres until there is room: each of them holds its connection. */
  readonly mostPaused: number
}

/** How long an exchange waits for room, with its connection or before it has one. */
export const patienceMs = 5_000

/** Exchanges whose last answer was large enough to be counted. */
const mostKnown = 1_000

/** Our own exchanges are one party. */
const holderOf = (context: Context): ByteOwner => context ?? { party: '' }

const longestSubject = 1_000

/**
 * The key under which the length of an answer is remembered: the party, and all statements with their values, since
 * others may receive a short answer. Null: too long to be remembered.
 */
function subjectOf({ statements }: Exchange, context: Context): string | null {
  const asked = statements.flatMap(({ name, values }) => [name, ...values])
  const length = asked.reduce((sum, one) => sum + (one?.length ?? 0), 0)
  return length > longestSubject ? null : [holderOf(context).party, ...asked].join('\0')
}

export function createAnswerMemory({ answers, mostPaused }: AnswerMemoryOptions): AnswerMemory {
  const lengths = createLru<string, number>(mostKnown)
  const large = { count: 0 }
  let paused = 0
  const likely = (exchange: Exchange, context: Context): number => {
    const subject = lengths.size === 0 ? null : subjectOf(exchange, context)
    return (subject === null ? undefined : lengths.get(subject)) ?? 1
  }

  const track = (exchange: Exchange, context: Context): TrackedAnswer => {
    const holding = answers.open(holderOf(context))
    let had = 0
    let isPaused = false
    const resume = (): void => {
      if (!isPaused) return
      isPaused = false
      paused -= 1
    }
    const grow: Grow = (bytes, onDecided) => {
      const more = bytes - had
      had = bytes
      // A change may be committed even if its answer has no room, so its answer is sent in any case.
      if (!exchange.readOnly) holding.force(more)
      else if (!holding.take(more)) {
        if (paused >= mostPaused) onDecided(false)
        else {
          isPaused = true
          paused += 1
          holding.wait(more, patienceMs, (granted) => {
            resume()
            onDecided(granted)
          })
        }
        return false
      }
      return true
    }
    const end = (): void => {
      resume()
      const subject = subjectOf(exchange, context)
      if (subject !== null) lengths.set(subject, had)
      large.count = lengths.size
      // The route counts the body as soon as it has it, which is before anything else comes about.
      setImmediate(holding.release)
    }
    return { grow, end }
  }
  return {
    usage: answers.usage,
    large,
    isAvailable: (exchange, context) => answers.hasRoom(holderOf(context), likely(exchange, context)),
    wait: (exchange, context, ms) => answers.room(holderOf(context), likely(exchange, context), ms),
    track,
    onSmallAnswer: (exchange, context) => {
      const subject = lengths.size === 0 ? null : subjectOf(exchange, context)
      if (subject !== null) lengths.delete(subject)
      large.count = lengths.size
    },
  }
}
