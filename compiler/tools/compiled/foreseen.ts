import { parts } from '../../../runtime/contract/name-parts.ts'
import type { CompiledOperation } from '../../../runtime/graphql/compiled/format.ts'
import type { Planned } from '../../../runtime/graphql/variables/shape.ts'
import { namedInput, type DeclaredVariable } from '../../../runtime/graphql/variables/types.ts'

type Given = Readonly<Record<string, unknown>>

/** An operation with more of them has those of each variable by itself. */
const mostCombined = 64

/** Elements of cursors that are foreseen: columns of an order with the key. */
const cursorLengths = [1, 2, 3]

/** Of numbers that are read for more than their form: one page is empty, and what is negative is refused. */
const otherNumbers = { size: [0, -1], sign: [-1], count: [], value: [] } as const satisfies Record<Planned, unknown>

/** Stands for a variable that is not given. */
const absent = Symbol('absent')

/**
 * Variables of the forms that can be foreseen: each not given, null and given, where it may be; Booleans and directions of an
 * order with all their values; page sizes with and without rows, and negative ones; cursors of some lengths; one row and several;
 * of filters and orders none.
 * @param thought values to give, the fewest first and the most last
 */
export function foreseen(
  declared: readonly DeclaredVariable[],
  { planned, nulls }: Pick<CompiledOperation, 'planned' | 'nulls'>,
  thought: readonly Given[],
): readonly Given[] {
  const options = declared.map((variable): Option => {
    const { name } = variable
    const others = otherNumbers[planned[name] ?? 'value']
    return { name, values: [...valuesFor(variable, nulls.includes(name), thought), ...others] }
  })
  const combinations = options.reduce((product, { values }) => product * values.length, 1)
  if (combinations > mostCombined)
    return [...thought, ...[thought[0] ?? {}, thought.at(-1) ?? {}].flatMap((usual) => oneByOne(options, usual))]
  return options.reduce<readonly Given[]>(
    (all, { name, values }) => all.flatMap((given) => values.map((value) => withValue(given, name, value))),
    [{}],
  )
}

interface Option {
  readonly name: string
  readonly values: readonly unknown[]
}

const withValue = (given: Given, name: string, value: unknown): Given =>
  value === absent ? given : { ...given, [name]: value }

/** Each variable with each of its values, among usual ones of the others. */
const oneByOne = (options: readonly Option[], usual: Given): readonly Given[] =>
  options.flatMap(({ name, values }) => {
    const { [name]: _left, ...others } = usual
    return values.map((value) => withValue(others, name, value))
  })

function valuesFor(
  { name, type, byDefault }: DeclaredVariable,
  nullIsNone: boolean,
  thought: readonly Given[],
): readonly unknown[] {
  const mayLack = type.kind !== 'non-null' || byDefault !== undefined
  const given = thought.flatMap((one) => (Object.hasOwn(one, name) ? [one[name]] : []))
  const all = [
    ...(mayLack ? [absent] : []),
    ...(type.kind === 'non-null' || nullIsNone ? [] : [null]),
    ...given,
    ...more(type, given),
  ]
  return [...new Map(all.map((value) => [value === absent ? '' : JSON.stringify(value), value])).values()]
}

function more(type: DeclaredVariable['type'], given: readonly unknown[]): readonly unknown[] {
  const named = namedInput(type)
  const isList = (type.kind === 'non-null' ? type.of : type).kind === 'list'
  if (named.kind === 'enum') return named.written && !isList ? [...named.values.keys()] : []
  if (named.text === 'Cursor') return cursorLengths.map(cursorOf)
  if (!isList || named.kind !== 'object' || !named.text.endsWith(parts.insertInput)) return []
  return given.flatMap((rows) => (Array.isArray(rows) && rows.length === 1 ? [[rows[0], rows[0]]] : []))
}

const cursorOf = (elements: number): string =>
  Buffer.from(JSON.stringify(Array.from({ length: elements }, () => 1))).toString('base64')
