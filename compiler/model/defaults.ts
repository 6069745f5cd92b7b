import type { AnnotatedFunction, AnnotatedType } from '../comments/annotated.ts'

/** Whether an argument is optional, and its default in introspection. */
export interface Default {
  readonly required: boolean
  readonly literal: string | null
  /** As Postgres prints it, if it has no GraphQL literal. */
  readonly printed?: string
}

/**
 * The defaults of a function's arguments: the last ones have them, as many as the catalogue counts (spec/graphql.md
 * 9.2). Their values come from the printed list, if it can be split into its items.
 */
export function readDefaults(
  { defaults, defaultCount }: AnnotatedFunction,
  types: readonly (AnnotatedType | undefined)[],
): readonly Default[] {
  const all = defaults === null ? [] : expressionsIn(defaults)
  const printed = all.length === defaultCount ? all : []
  const first = types.length - defaultCount
  return types.map((type, index) => (index < first ? requiredArgument : readDefault(printed[index - first], type)))
}

export const requiredArgument: Default = { required: true, literal: null }

/** A constant, a quoted name or any other character. */
const token = /E'(?:[^'\\]|\\.|'')*'|'(?:[^']|'')*'|"(?:[^"]|"")*"|[^]/gu

/** A printed list of expressions, split at the commas outside of constants, names and brackets. */
function expressionsIn(list: string): readonly string[] {
  const texts = ['']
  let open = 0
  for (const [piece] of list.matchAll(token)) {
    if (piece === '(' || piece === '[') open += 1
    if (piece === ')' || piece === ']') open -= 1
    if (piece === ',' && open === 0) texts.push('')
    else texts.push(`${texts.pop() ?? ''}${piece}`)
  }
  return texts.map((text) => text.trim())
}

function readDefault(printed: string | undefined, type: AnnotatedType | undefined): Default {
  if (printed === undefined) return { required: false, literal: null }
  const literal = type?.schema === 'pg_catalog' ? (literals.get(type.name)?.(printed) ?? null) : null
  return { required: false, literal, ...(literal === null && { printed }) }
}

type ReadLiteral = (printed: string) => string | null

const matchingLiteral =
  (pattern: RegExp): ReadLiteral =>
  (printed) =>
    pattern.test(printed) ? printed : null

const integer: ReadLiteral = (printed) =>
  /^(0|[1-9]\d*)$/u.test(printed) && Number(printed) <= 2_147_483_647 ? printed : null

const float = matchingLiteral(/^(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/u)

/** A quoted constant with its cast, as pg_get_expr prints it; quotes inside are doubled. */
const textLiteral: ReadLiteral = (printed) => {
  const quoted = /^'((?:[^']|'')*)'::text$/u.exec(printed)?.[1]
  return quoted === undefined ? null : JSON.stringify(quoted.replaceAll("''", "'"))
}

/** Types whose plain literals are shown, by their names in pg_catalog. */
const literals: ReadonlyMap<string, ReadLiteral> = new Map([
  ['int2', integer],
  ['int4', integer],
  ['bool', matchingLiteral(/^(true|false)$/u)],
  ['float4', float],
  ['float8', float],
  ['text', textLiteral],
])
