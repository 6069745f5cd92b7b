import { drawQuestion, usefulRoles } from '../../questions/document.ts'
import { interpret } from '../../interpreter/interpret.ts'
import { storeOf } from '../../interpreter/store.ts'
import { asSubscription } from '../../questions/subscription.ts'
import type { Question, World } from '../../interpreter/world.ts'
import type { Random } from '../../../support/random.ts'
import { drawBy } from './writers.ts'

/** Drawn queries, converted to subscriptions; and drawn writes. */

export interface Questions {
  readonly watched: readonly Question[]
  readonly writing: readonly Question[]
}

/** An answer with rows changes with them. */
const isTelling = (world: World, question: Question): boolean => {
  const { answer } = interpret(world, storeOf(world), question)
  return answer.kind === 'data' && JSON.stringify(answer.data).length > 120
}

const [telling, others] = [12, 3]

export function drawQuestions(world: World, random: Random): Questions {
  if (usefulRoles(world).length === 0) return { watched: [], writing: [] }
  const drawn = Array.from({ length: 120 }, () => drawQuestion(drawBy(random, 400), world))
  const asked = drawn.flatMap(({ question }) => asSubscription(question) ?? [])
  return {
    watched: [
      ...asked.filter((question) => isTelling(world, question)).slice(0, telling),
      ...asked.filter((question) => !isTelling(world, question)).slice(0, others),
    ],
    writing: drawn.flatMap(({ writes, question }) => (writes ? [question] : [])),
  }
}
