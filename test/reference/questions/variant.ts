import { parse, print, Kind } from 'graphql'
import type { Json, Question } from '../interpreter/world.ts'
import type { Draw } from './draw.ts'

/**
 * The same document with other variables: it is known by now, so its cached statements must serve these values, or be
 * rejected.
 */
export function drawVariant(draw: Draw, question: Question): Question {
  const given = question.variables
  const hasCursor = /\b(after|before):/.test(question.document)
  const variables = declared(question.document).flatMap(([name, type]): [string, Json][] => {
    const isPresent = Object.hasOwn(given, name)
    const before = given[name] ?? null
    // Cursors belong to their order, which therefore stays.
    const choice = hasCursor && type.includes('Order') ? 0 : draw.int(4)
    if (choice === 0 || (choice === 1 && type.endsWith('!'))) return isPresent ? [[name, before]] : []
    if (choice === 1) return draw.chance(50) ? [] : [[name, null]]
    const others = [...(alternatives[type.replace(/!$/, '')] ?? []), ...sameType(question, name, type)]
    if (others.length > 0) return [[name, draw.pick(others)]]
    return isPresent ? [[name, before]] : []
  })
  return { ...question, variables: Object.fromEntries(variables) }
}

const alternatives: Readonly<Record<string, readonly Json[]>> = {
  Int: [1, 2, 0, 3],
  BigInt: ['1', '2', 3],
  BigFloat: ['1', '1.50'],
  String: ['a', 'b', ''],
  Boolean: [true, false],
  '[Int!]': [[1, 2], [], [3]],
  '[String!]': [['a'], [], ['a', 'b', '']],
  FilterIs: ['NULL', 'NOT_NULL'],
}

/** The variables of the operation with their types as they are written. */
function declared(document: string): readonly (readonly [name: string, type: string])[] {
  const operations = parse(document).definitions.filter((definition) => definition.kind === Kind.OPERATION_DEFINITION)
  return operations.flatMap((operation) =>
    (operation.variableDefinitions ?? []).map(({ variable, type }) => [variable.name.value, print(type)] as const),
  )
}

/**
 * A text may be a pattern, a cursor fits its order, a number may have more digits than another column takes, and what is opaque is a
 * range here and an address there: these only
 * stand where they were made for.
 */
const bound = /^(String|Cursor)!?$|BigFloat|Opaque/

/** Values that other variables of the type have. */
const sameType = ({ document, variables }: Question, name: string, type: string): readonly Json[] =>
  bound.test(type)
    ? []
    : declared(document).flatMap(([other, otherType]) =>
        other !== name && otherType === type && isMovable(variables[other] ?? null) ? [variables[other] as Json] : [],
      )

/** A geometry with another reference system than its column is transformed, after which a box is no longer one. */
const isMovable = (value: Json): boolean => value !== null && !JSON.stringify(value).includes('"crs":')
