import type { AnnotatedFunction, AnnotatedType } from '../comments/types.ts'
import type { Diagnostic } from '../../runtime/contract/manifest.ts'
import { diagnose } from '../report/diagnostics.ts'
import { nameFunction } from '../report/object-name.ts'

/** Whether an argument may be left out, and the GraphQL literal that introspection shows for it. */
export interface Default {
  readonly required: boolean
  readonly literal: string | null
}

/**
 * The defaults of a function's arguments, found by splitting the printed list at commas; when that gives another number
 * than there are defaults, no argument is taken to have one (spec/graphql.md 9.2, kept as existing clients know it).
 */
export function readDefaults(fn: AnnotatedFunction, types: readonly (AnnotatedType | undefined)[]): readonly Default[] {
  const known = knownDefaults(fn) ?? []
  const first = types.length - known.length
  return types.map((type, index) => readDefault(known[index - first], type))
}

/** The printed defaults, or null where commas within them hide which is which. */
function knownDefaults({ defaults, defaultCount }: AnnotatedFunction): readonly string[] | null {
  const printed = defaults === null ? [] : defaults.split(',').map((text) => text.trim())
  return printed.length === defaultCount ? printed : null
}

/** Reports what the owner of a served function would not expect; functions of extensions are not reported. */
export const defaultDiagnostics = (fn: AnnotatedFunction): readonly Diagnostic[] =>
  fn.ofExtension || knownDefaults(fn) !== null
    ? []
    : [diagnose('defaults-unread', nameFunction(fn), { defaults: fn.defaults ?? 'none' })]

const readDefault = (printed: string | undefined, type: AnnotatedType | undefined): Default =>
  printed === undefined
    ? { required: true, literal: null }
    : { required: false, literal: type?.schema === 'pg_catalog' ? (literals.get(type.name)?.(printed) ?? null) : null }

type ReadLiteral = (printed: string) => string | null

const matching =
  (pattern: RegExp): ReadLiteral =>
  (printed) =>
    pattern.test(printed) ? printed : null

const integer: ReadLiteral = (printed) =>
  /^(0|[1-9]\d*)$/u.test(printed) && Number(printed) <= 2_147_483_647 ? printed : null

const float = matching(/^(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/u)

/** A quoted constant with its cast, as pg_get_expr prints it; quotes inside are doubled. */
const text: ReadLiteral = (printed) => {
  const quoted = /^'((?:[^']|'')*)'::text$/u.exec(printed)?.[1]
  return quoted === undefined ? null : JSON.stringify(quoted.replaceAll("''", "'"))
}

/** Types whose plain literals are shown, by their names in pg_catalog. */
const literals: ReadonlyMap<string, ReadLiteral> = new Map([
  ['int2', integer],
  ['int4', integer],
  ['bool', matching(/^(true|false)$/u)],
  ['float4', float],
  ['float8', float],
  ['text', text],
])
