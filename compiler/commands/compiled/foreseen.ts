import { parts } from '../../../runtime/contract/name-parts.ts'
import type { CompiledOperation } from '../../../runtime/graphql/compiled/format.ts'
import type { Planned } from '../../../runtime/graphql/variables/read.ts'
import { namedInput, type DeclaredVariable } from '../../../runtime/graphql/variables/input-types.ts'
import { formOfVariable } from './form-of-variable.ts'

type Given = Readonly<Record<string, unknown>>

/** An operation with more combinations has those in which one or two variables differ from usual ones. */
const mostCombined = 2_048

/** Expected numbers of elements of cursors: columns of an order with the key. */
const cursorLengths = [1, 2, 3]

/** Neither a cursor nor a node id. */
const unreadable = '?'

/** For numbers of which planning reads more than the form: an empty page, and a refused negative value. */
const otherNumbers = { size: [0, -1], sign: [-1], count: [], value: [] } as const satisfies Record<Planned, unknown>

/** A variable that is absent. */
const absent = Symbol('absent')

/**
 * Variables of the predictable forms, with those of examples: each absent, null and given, if possible; Booleans and
 * directions of an order with all their values; page sizes with and without rows, and negative ones; cursors of some
 * lengths; one row and several; of filters and orders none. Of values with one form the first is used.
 * @param thought values to give, the fewest first and the most last
 */
export function foreseen(
  declared: readonly DeclaredVariable[],
  form: Pick<CompiledOperation, 'planned' | 'nulls'>,
  thought: readonly Given[],
  examples: readonly Given[],
): readonly Given[] {
  const options = declared.map((variable): Option => {
    const values = valuesFor(variable, form, [...thought, ...examples])
    return { name: variable.name, values: [...ofOneFormEach(variable, form, values)] }
  })
  const combinations = options.reduce((product, { values }) => product * values.length, 1)
  if (combinations <= mostCombined) return combined(options, [{}])
  const [fewest, most] = usualOnes(declared, thought)
  const differing = (at: readonly Option[]): readonly Given[] =>
    [fewest, most].flatMap((usual) => combined(at, [withoutOptions(usual, at)]))
  const single = options.flatMap((option) => differing([option]))
  const isFew = countOfPairs(options) <= mostCombined
  return [...thought, ...single, ...(isFew ? allPairs(options).flatMap(differing) : [])]
}

interface Option {
  readonly name: string
  readonly values: readonly unknown[]
}

const combined = (options: readonly Option[], usual: readonly Given[]): readonly Given[] =>
  options.reduce(
    (all, { name, values }) => all.flatMap((given) => values.map((value) => withValue(given, name, value))),
    usual,
  )

const withValue = (given: Given, name: string, value: unknown): Given =>
  value === absent ? given : { ...given, [name]: value }

const withoutOptions = (given: Given, options: readonly Option[]): Given =>
  Object.fromEntries(Object.entries(given).filter(([name]) => options.every((option) => option.name !== name)))

/** Only the required variables, and all of them. */
export function usualOnes(
  declared: readonly DeclaredVariable[],
  thought: readonly Given[],
): readonly [fewest: Given, most: Given] {
  const most = thought.at(-1) ?? {}
  const needed = declared.filter(({ type, byDefault }) => type.kind === 'non-null' && byDefault === undefined)
  return [Object.fromEntries(needed.map(({ name }) => [name, most[name]])), most]
}

const allPairs = (options: readonly Option[]): readonly (readonly [Option, Option])[] =>
  options.flatMap((one, at) => options.slice(at + 1).map((other) => [one, other] as const))

const countOfPairs = (options: readonly Option[]): number =>
  allPairs(options).reduce((sum, [one, other]) => sum + 2 * one.values.length * other.values.length, 0)

function valuesFor(
  { name, type, byDefault }: DeclaredVariable,
  { planned }: Pick<CompiledOperation, 'planned'>,
  thought: readonly Given[],
): readonly unknown[] {
  const mayLack = type.kind !== 'non-null' || byDefault !== undefined
  const given = thought.flatMap((one) => (Object.hasOwn(one, name) ? [one[name]] : []))
  return [
    ...(mayLack ? [absent] : []),
    ...(type.kind === 'non-null' ? [] : [null]),
    ...given,
    ...more(type, given),
    ...otherNumbers[planned[name] ?? 'value'],
  ]
}

/** A value that does not fit its type has no form. */
function* ofOneFormEach(
  variable: DeclaredVariable,
  form: Pick<CompiledOperation, 'planned' | 'nulls'>,
  values: readonly unknown[],
): Generator<unknown> {
  const formOf = formOfVariable(variable, form)
  const seen = new Set<string>()
  for (const value of values) {
    const found = formOf(value === absent ? {} : { [variable.name]: value })
    if (found === null || seen.has(found)) continue
    seen.add(found)
    yield value
  }
}

function more(type: DeclaredVariable['type'], given: readonly unknown[]): readonly unknown[] {
  const named = namedInput(type)
  const isList = (type.kind === 'non-null' ? type.of : type).kind === 'list'
  if (named.kind === 'enum') return named.written && !isList ? [...named.values.keys()] : []
  if (named.text === 'Cursor') return [...cursorLengths.map(cursorOf), unreadable]
  if (named.text === 'ID') return [unreadable]
  if (!isList || named.kind !== 'object' || !named.text.endsWith(parts.insertInput)) return []
  return given.flatMap((rows) => (Array.isArray(rows) && rows.length === 1 ? [[rows[0], rows[0]]] : []))
}

const cursorOf = (elements: number): string =>
  Buffer.from(JSON.stringify(Array.from({ length: elements }, () => 1))).toString('base64')
