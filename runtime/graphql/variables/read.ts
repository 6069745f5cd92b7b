import { Refusal, type FailureCode } from '../protocol/failures.ts'
import { coerceVariables, type VariableFault } from './coerce.ts'
import { inGivenOrder, readsOrder } from './orders.ts'
import type { DeclaredVariable } from './types.ts'

type Given = Readonly<Record<string, unknown>>

/** As many as the reference implementation reports when it executes; a long list may hold nothing but faults. */
const mostFaults = 50

const tooMany = 'Too many errors processing variables, error limit reached. Execution aborted.'

/** A request's values for the variables of an operation. @throws Refusal naming those that do not fit, in the reference's words */
export function createVariableReader(declared: readonly DeclaredVariable[]): (given: Given) => Given {
  const ordered = orderedFor(declared)
  return (given) => {
    const coerced = coerceVariables(declared, given, mostFaults)
    if (coerced.kind === 'faults') throw refusalOf(coerced)
    return ordered(coerced.values, given)
  }
}

/** The same without the words: null at the first value that does not fit. */
export function createFittingReader(declared: readonly DeclaredVariable[]): (given: Given) => Given | null {
  const ordered = orderedFor(declared)
  return (given) => {
    const coerced = coerceVariables(declared, given, 0)
    return coerced.kind === 'faults' ? null : ordered(coerced.values, given)
  }
}

function orderedFor(declared: readonly DeclaredVariable[]): (values: Given, given: Given) => Given {
  const orders = declared.filter(({ type }) => readsOrder(type))
  return (values, given) => {
    const ordered = orders.filter(({ name }) => Object.hasOwn(given, name))
    if (ordered.length === 0) return values
    return {
      ...values,
      ...Object.fromEntries(ordered.map(({ name, type }) => [name, inGivenOrder(type, values[name], given[name])])),
    }
  }
}

const code = 'BAD_VARIABLES' satisfies FailureCode

function refusalOf({ faults, tooMany: more }: { faults: readonly VariableFault[]; tooMany: boolean }): Refusal {
  const told = faults.map(({ message, variable: { place } }) => ({
    message,
    ...(place !== null && { locations: [place] }),
    extensions: { code } as const,
  }))
  return new Refusal(code, more ? [...told, { message: tooMany, extensions: { code } }] : told)
}
