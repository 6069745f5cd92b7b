import { interpret, type Outcome } from '../interpreter/interpret.ts'
import { storeOf } from '../interpreter/store.ts'
import type { Question } from '../interpreter/world.ts'
import { compareBags } from '../compare.ts'
import { judgeAnswer, type Answer, type Disagreement } from '../judge-answer.ts'
import { writes, type Case } from './case.ts'
import { judgeShape } from './shape.ts'
import { dumpOf, type Stage } from './stage.ts'

export interface Judged {
  /** Null: they agree. */
  readonly disagreement: Disagreement | null
  readonly refused: boolean
}

/** Judges the answer to a question, or without one the schema of each role. */
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

/** Asks both. Written rows are rolled back before this returns. */
export async function judge(stage: Stage, question: Question, isMutation: boolean): Promise<Judged> {
  const interpreted = interpret(stage.world, storeOf(stage.world), question)
  const answer = await stage.ask(question)
  const outcome = asMet(stage, interpreted, answer)
  const found = judgeAnswer(outcome, answer)
  const refused = outcome.answer.kind === 'refused'
  if (!isMutation) return { disagreement: found, refused }
  const state = await judgeState(stage, outcome)
  await stage.reset()
  return { disagreement: found ?? state, refused }
}

/** A possible refusal either occurred or did not. */
function asMet({ world }: Stage, outcome: Outcome, { errors = [] }: Answer): Outcome {
  const isMet = errors.some(({ extensions: { sqlstate = '' } }) => outcome.meanwhile.has(sqlstate))
  return isMet && outcome.answer.kind === 'data'
    ? { ...outcome, answer: { kind: 'refused', reasons: [...outcome.meanwhile] }, store: storeOf(world) }
    : outcome
}

/** Written rows exist, and a refusal changed nothing. */
async function judgeState(stage: Stage, outcome: Outcome): Promise<Disagreement | null> {
  const expected = dumpOf(stage.world, outcome.store)
  for (const [table, rows] of await stage.dump()) {
    const found = compareBags(expected.get(table) ?? [], rows, new Set(), `rows of ${table}`)
    if (found !== null) return { kind: 'state', code: null, message: found }
  }
  return null
}
