import { Kind, parse } from 'graphql'
import type { Question } from '../interpreter/world.ts'

/** The same as a subscription; null if it has not exactly one root field (spec/graphql.md 16.1). */
export function asSubscription(question: Question): Question | null {
  const [operation] = parse(question.document).definitions
  if (operation?.kind !== Kind.OPERATION_DEFINITION || operation.operation === 'mutation') return null
  const [field, ...others] = operation.selectionSet.selections
  if (field?.kind !== Kind.FIELD || others.length > 0 || (field.directives ?? []).length > 0) return null
  return { ...question, document: question.document.replace(/^query\b/, 'subscription') }
}
