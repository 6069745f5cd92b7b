import { interpret, type Outcome } from '../../../compiler/verify/interpreter/interpret.ts'
import { storeOf } from '../../../compiler/verify/interpreter/store.ts'
import type { Json, Question } from '../../../compiler/verify/interpreter/world.ts'
import { compareBags, difference } from '../../../compiler/verify/compare.ts'
import { writes, type Case } from './case.ts'
import { judgeShape } from './shape.ts'
import { dumpOf, type Stage } from './stage.ts'

/** One way in which the service and the interpreter disagree. */
export interface Disagreement {
  readonly kind: 'answer' | 'refusal' | 'state' | 'shape'
  /** Why it was refused where that was not expected. */
  readonly code: string | null
  readonly message: string
}

export interface Judged {
  /** Null: they agree. */
  readonly disagreement: Disagreement | null
  readonly refused: boolean
}

/** Judges the answer to a question, or without one the schema that each role is shown. */
export async function judgeCase(stage: Stage, { question, earlier }: Asked): Promise<Disagreement | null> {
  if (question === null) {
    const message = await judgeShape(stage)
    return message === null ? null : { kind: 'shape', code: null, message }
  }
  if (earlier !== null) {
    await stage.ask({ ...question, variables: earlier })
    if (writes(question)) await stage.reset()
  }
  return (await judge(stage, question, writes(question))).disagreement
}

export type Asked = Pick<Case, 'question' | 'earlier'>

/** Asks both. What is written is taken back before this returns. */
export async function judge(stage: Stage, question: Question, isMutation: boolean): Promise<Judged> {
  const outcome = interpret(stage.world, storeOf(stage.world), question)
  const answer = await stage.ask(question)
  const found = judgeAnswer(outcome, answer)
  const refused = outcome.answer.kind === 'refused'
  if (!isMutation) return { disagreement: found, refused }
  const state = await judgeState(stage, outcome)
  await stage.reset()
  return { disagreement: found ?? state, refused }
}

type Answer = Awaited<ReturnType<Stage['ask']>>

/** Two refusals with the same reason are the same failure, whatever they name. */
const reasonOf = ({ message, extensions }: NonNullable<Answer['errors']>[number]): string =>
  extensions.sqlstate ?? `${extensions.code} ${message.replace(/"[^"]*"/g, '""')}`

function judgeAnswer({ answer: expected, unordered }: Outcome, actual: Answer): Disagreement | null {
  const errors = actual.errors ?? []
  const code = errors[0] === undefined ? null : reasonOf(errors[0])
  if (expected.kind === 'refused') {
    const wanted = expected.reasons.join(' or ')
    if (errors.length === 0)
      return {
        kind: 'refusal',
        code: null,
        message: `expected a refusal (${wanted}), but the answer was ${JSON.stringify(actual.data)}`,
      }
    const isExpected = errors.some(
      (error) => expected.reasons.includes(error.message) || expected.reasons.includes(error.extensions.sqlstate ?? ''),
    )
    const isBare = actual.data === null
    return isExpected && isBare
      ? null
      : { kind: 'refusal', code, message: `expected the refusal ${wanted}, but it was ${JSON.stringify(actual)}` }
  }
  if (errors.length > 0)
    return { kind: 'refusal', code, message: `expected an answer, but it was refused: ${JSON.stringify(errors)}` }
  const found = difference(expected.data, actual.data as Json, unordered)
  return found === null ? null : { kind: 'answer', code: null, message: found }
}

/** What was written is there, and what was refused changed nothing. */
async function judgeState(stage: Stage, outcome: Outcome): Promise<Disagreement | null> {
  const expected = dumpOf(stage.world, outcome.store)
  for (const [table, rows] of await stage.dump()) {
    const found = compareBags(expected.get(table) ?? [], rows, new Set(), `rows of ${table}`)
    if (found !== null) return { kind: 'state', code: null, message: found }
  }
  return null
}
