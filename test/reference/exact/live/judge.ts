import { interpret, type Outcome } from '../../interpreter/interpret.ts'
import { judgeAnswer, type Answer } from '../../judge-answer.ts'
import type { History, State } from './history.ts'
import { isWithoutOutage, isUncompiled, uncompiled, type Connection, type Watcher } from './streams.ts'

/** Compares the answers of streams with the states of the database (spec/graphql.md 16.2). */

/** The answer of a query in each state; computed once. */
type Answers = (state: number) => Outcome | readonly string[]

const kept = new WeakMap<Watcher, Map<number, Outcome | readonly string[]>>()

const answersOf = ({ states }: History, watcher: Watcher): Answers => {
  const { question, place } = watcher
  const known = kept.get(watcher) ?? new Map<number, Outcome | readonly string[]>()
  kept.set(watcher, known)
  return (index) => {
    const found = known.get(index)
    if (found !== undefined) return found
    const { world, store, verdicts } = states[index] as State
    const made = verdicts[place] ?? interpret(world, store, question)
    known.set(index, made)
    return made
  }
}

const isRefusal = (expected: ReturnType<Answers>): boolean =>
  !('answer' in expected) || expected.answer.kind === 'refused'

/** SQLSTATE of a missing privilege. */
const notAllowed = '42501'

/** A service of compiled documents has left out forbidden ones, or Postgres refuses it. */
const isRefusedAsCompiled = ({ errors = [] }: Answer): boolean =>
  errors.some(({ extensions: { code, sqlstate } }) => uncompiled.has(code) || sqlstate === notAllowed)

/** The fault of an answer as that of a state; null: none. */
const wrongAs = (expected: ReturnType<Answers>, answer: Answer): string | null => {
  if (isRefusal(expected) && isRefusedAsCompiled(answer)) return null
  if ('answer' in expected) return judgeAnswer(expected, answer)?.message ?? null
  const messages = (answer.errors ?? []).map(({ message }) => message)
  return messages.join('\n') === expected.join('\n')
    ? null
    : `expected the refusal ${expected.join(' ')}, but it was ${JSON.stringify(answer).slice(0, 400)}`
}

/** The oldest state in a range that an answer shows; or its fault as the newest. */
function placeOf(answers: Answers, answer: Answer, from: number, to: number): number | string {
  let wrong = `nothing is between the states ${from} and ${to}`
  for (let index = from; index <= to; index += 1) {
    const found = wrongAs(answers(index), answer)
    if (found === null) return index
    wrong = found
  }
  return wrong
}

/**
 * The fault of a stream; null: none.
 * @param isLossy connections were ended
 */
export function judgeWatcher(history: History, watcher: Watcher, isLossy: boolean): string | null {
  const answers = answersOf(history, watcher)
  let before: string | null = null
  for (const connection of watcher.connections) {
    if (!connection.resumes) before = null
    const overdue = wrongWithToken(connection)
    if (overdue !== null) return `${connection.transport}: ${overdue}`
    if (
      connection.end?.kind === 'lost' &&
      !isLossy &&
      !isWithoutOutage(connection.end) &&
      !isUncompiled(connection.end)
    )
      return `${connection.transport}: it was lost: ${connection.end.why}`
    const found = judgeConnection(answers, connection, before)
    if (found !== null) return `${connection.transport}: ${found}`
    const last = connection.heard.at(-1)
    if (last !== undefined) before = last.text
  }
  return null
}

/** The maximum delay on a busy machine, in milliseconds. */
const lateMs = 10_000

/** The fault in the end of a stream by its token; null: none. */
function wrongWithToken({ expires, heard, end }: Connection): string | null {
  if (end?.kind === 'expired' && (expires === null || end.at < expires)) return 'it ended for a token that is good'
  const last = heard.at(-1)?.at ?? 0
  return expires !== null && last > expires + lateMs ? 'it went on after its token had ended' : null
}

function judgeConnection(answers: Answers, { heard, from, end }: Connection, before: string | null): string | null {
  let [state, text] = [from, before]
  for (const [index, { answer, text: now, newest }] of heard.entries()) {
    if (now !== null && now === text) return `the answer came again: ${now.slice(0, 400)}`
    const place = placeOf(answers, answer, state, newest)
    if (typeof place === 'string') return `answer ${index} is that of no state from ${state} to ${newest}: ${place}`
    if (answer.errors !== undefined && index < heard.length - 1)
      return `it went on after ${JSON.stringify(answer).slice(0, 400)}`
    ;[state, text] = [place, now]
  }
  const last = heard.at(-1)?.answer
  if (end?.kind === 'complete' && last?.errors === undefined) return 'it ended without an error'
  if (end === null && last?.errors !== undefined) return 'it did not end with its error'
  return null
}

/** The difference between a stream and the last state; null: none. */
export function lackOf(history: History, watcher: Watcher): string | null {
  const connection = watcher.connections.at(-1)
  const answers = answersOf(history, watcher)
  const heard = watcher.connections.flatMap((one) => one.heard).at(-1)
  if (connection === undefined) return 'it has heard nothing'
  if (isUncompiled(connection.end) && isRefusal(answers(history.oldest()))) return null
  if (heard === undefined) return 'it has heard nothing'
  // It ended with an error in that state.
  if (connection.end?.kind === 'complete') return null
  if (connection.end !== null) return 'it is not connected'
  if (connection.expires !== null && Date.now() > connection.expires) return 'its token has ended'
  if (!connection.resumes && connection.heard.length === 0) return 'it has heard nothing since it came again'
  return wrongAs(answers(history.oldest()), heard.answer)
}
