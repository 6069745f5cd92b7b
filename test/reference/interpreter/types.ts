import { spatialOperators, withCrs } from './geometry.ts'
import { compareJson, printJson, readJson, textOfJson } from './json.ts'
import { jsonOperators } from './json-filter.ts'
import { compareNetworks, networkOperators } from './networks.ts'
import { canonRange, canonRanges, compareRanges, rangeOperators } from './ranges.ts'
import { comparePaths, pathOperators } from './paths.ts'
import { alike } from './patterns.ts'
import { compareVectors, searchOperators } from './text-search.ts'
import { compareDecimals, printDecimal, readDecimal, roundDecimal } from './decimal.ts'
import {
  compositeNamed,
  type Additions,
  type BaseType,
  type ColumnType,
  type CompositeValue,
  type Json,
  type Value,
  type World,
} from './world.ts'

/** The interpreter's rules of each type (spec/graphql.md 3.1, 4.1, 6). */
interface TypeRules {
  readonly graphql: string
  readonly operators: readonly string[]
  readonly listFilter: boolean
  readonly aggregates: readonly ('sum' | 'avg' | 'min' | 'max')[]
  /** Aggregated numbers are JSON numbers, everything else is text. */
  readonly number: boolean
  readonly compare: (a: never, b: never) => number
  /** An input or stored value in canonical form. */
  readonly canon: (value: Json) => string | number | boolean
  /** The maximum length of an input in characters; null for no limit. */
  readonly maxLength: number | null
}

const ordered = ['eq', 'gt', 'gte', 'in', 'is', 'lt', 'lte', 'neq']
const equality = ['eq', 'in', 'is', 'neq']
const patterns = ['ilike', 'iregex', 'like', 'regex', 'startsWith']
const all = ['sum', 'avg', 'min', 'max'] as const
const ends = ['min', 'max'] as const

/** The "C" collation: UTF-8 bytes. */
export const compareText = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b))
const compareNumbers = (a: number | boolean, b: number | boolean): number => Number(a) - Number(b)
export const compareNumerics = (a: string, b: string): number => compareDecimals(readDecimal(a), readDecimal(b))
const compareTimes = (a: string, b: string): number =>
  Date.parse(secondOf(a)) - Date.parse(secondOf(b)) || compareText(fractionOf(a), fractionOf(b))
/** Without the digits behind the second, which a Date holds three of and Postgres six; those are compared as text. */
const secondOf = (time: string): string => time.replace(/\.\d+/, '')
const fractionOf = (time: string): string => /\.\d+/.exec(time)?.[0] ?? ''

const canonText = (value: Json): string => String(value)
const canonInteger = (value: Json): string => String(BigInt(String(value)))
const canonNumeric = (value: Json): string => printDecimal(readDecimal(String(value)))
/** As `to_jsonb` prints it in the time zone UTC. */
const canonTime = (value: Json): string => {
  const fraction = fractionOf(String(value)).replace(/\.?0*$/, '')
  return new Date(secondOf(String(value))).toISOString().replace('.000Z', `${fraction}+00:00`)
}
const canonLocalTime = (value: Json): string => canonTime(`${String(value)}Z`).replace('+00:00', '')

/** The defaults of a type. */
const unserved: TypeRules = {
  graphql: '',
  operators: [],
  listFilter: false,
  aggregates: [],
  number: false,
  compare: compareText,
  canon: canonText,
  maxLength: null,
}
const opaque: TypeRules = { ...unserved, graphql: 'Opaque' }
const scalar: TypeRules = { ...unserved, operators: ordered, listFilter: true, aggregates: ends }
const number: TypeRules = { ...scalar, aggregates: all, number: true, compare: compareNumerics }
const integer: TypeRules = { ...number, graphql: 'Int', compare: compareNumbers, canon: Number }
const numeric: TypeRules = { ...number, graphql: 'BigFloat', canon: canonNumeric }
const text: TypeRules = { ...scalar, graphql: 'String', operators: [...ordered, ...patterns] }
const time: TypeRules = { ...scalar, graphql: 'Datetime', compare: compareTimes, canon: canonTime }

const rules: Readonly<Record<BaseType, TypeRules>> = {
  int2: integer,
  int4: integer,
  // Sums of floats depend on the order of the rows, and their form in a cursor on the server.
  float8: { ...integer, graphql: 'Float', aggregates: [] },
  int8: { ...number, graphql: 'BigInt', canon: canonInteger },
  numeric,
  'numeric(8,2)': {
    ...numeric,
    canon: (value) => printDecimal(roundDecimal(readDecimal(String(value)), 2)),
  },
  text,
  'varchar(5)': { ...text, maxLength: 5 },
  bool: {
    ...scalar,
    graphql: 'Boolean',
    operators: ['eq', 'is'],
    aggregates: [],
    compare: compareNumbers,
    canon: (value) => value === true || value === 'true',
  },
  timestamptz: time,
  timestamp: { ...time, canon: canonLocalTime },
  time: { ...time, graphql: 'Time', compare: compareText, canon: canonText },
  date: { ...scalar, graphql: 'Date' },
  uuid: {
    ...scalar,
    graphql: 'UUID',
    operators: equality,
    aggregates: [],
    canon: (value) => String(value).toLowerCase(),
  },
  composite: unserved,
  geometry: {
    ...unserved,
    graphql: 'GeoJSON',
    operators: spatialOperators,
    // Drawn values name the column's own system, or one with the same coordinates.
    canon: (value) => JSON.stringify({ ...(value as object), crs: undefined }),
  },
  jsonb: {
    ...unserved,
    graphql: 'JSON',
    operators: jsonOperators,
    compare: (a: string, b: string) => compareJson(readJson(a), readJson(b)),
    canon: (value) => printJson(readJson(String(value))),
  },
  tsvector: { ...opaque, operators: ['eq', 'is', ...searchOperators], compare: compareVectors },
  int4range: { ...opaque, operators: rangeOperators, compare: compareRanges, canon: canonRange },
  int4multirange: { ...opaque, operators: rangeOperators, compare: compareRanges, canon: canonRanges },
  inet: { ...opaque, operators: networkOperators, compare: compareNetworks },
  bytea: { ...opaque, operators: ['eq', 'is'] },
  ltree: { ...opaque, operators: pathOperators, compare: comparePaths },
  other: unserved,
  enum: { ...unserved, operators: equality },
}

export const rulesOf = (type: ColumnType): TypeRules => rules[type.base]

/** Additions that give values of a type a filter (spec/graphql.md 17), and whether they are on. */
export type FilterSwitches = Readonly<Partial<Record<keyof Additions, boolean>>>

const switchOf: Readonly<Partial<Record<BaseType, keyof Additions>>> = {
  jsonb: 'jsonFilters',
  tsvector: 'search',
  int4range: 'rangeFilters',
  int4multirange: 'rangeFilters',
  inet: 'networkFilters',
  ltree: 'ltreeFilters',
}

export const operatorsOf = (type: ColumnType, on: FilterSwitches): readonly string[] =>
  type.list ? listOperatorsOf(type, on) : plainOperatorsOf(type, on)

function plainOperatorsOf(type: ColumnType, on: FilterSwitches): readonly string[] {
  const { operators, graphql } = rulesOf(type)
  const needed = switchOf[type.base]
  if (needed !== undefined && on[needed] !== true) {
    // The `=` of an extension's type depends on the search path.
    return graphql !== 'Opaque' ? [] : type.base === 'ltree' ? ['is'] : ['eq', 'is']
  }
  const all =
    graphql === 'String'
      ? [
          ...operators,
          ...(on.search === true ? searchOperators : []),
          ...(on.textFilters === true ? Object.keys(alike) : []),
        ]
      : operators
  // Case folding depends on the collation, too.
  return type.collation === undefined ? all : all.filter((name) => !/^i(?:like|regex|eq|in)$/.test(name))
}

/** Conditions on the elements of a list (`arrayFilters`). */
export const quantifiers: readonly string[] = ['some', 'every', 'none']

const listOperatorsOf = (type: ColumnType, on: FilterSwitches): readonly string[] =>
  rulesOf(type).listFilter || (on.enumArrays === true && type.base === 'enum')
    ? [
        ...['containedBy', 'contains', 'eq', 'is', 'overlaps'],
        ...(on.arrayFilters === true && type.base !== 'enum' ? quantifiers : []),
      ]
    : []

export const aggregatesOf = (type: ColumnType): TypeRules['aggregates'] => (type.list ? [] : rulesOf(type).aggregates)

const unordered: ReadonlySet<BaseType> = new Set(['composite', 'float8', 'geometry', 'jsonb', 'other'])

export const isOrderable = (type: ColumnType): boolean => !type.list && !unordered.has(type.base)

const labelsOf = (world: World, type: ColumnType): readonly string[] =>
  world.enums.find((item) => item.name === type.enum)?.labels ?? []

/** Orders two values that are not null. */
export function compareValues(world: World, type: ColumnType, a: Value, b: Value): number {
  if (type.list) return compareLists(world, type, a as readonly Value[], b as readonly Value[])
  if (type.base === 'composite') return compareComposites(world, type, a as CompositeValue, b as CompositeValue)
  if (type.base === 'enum') {
    const labels = labelsOf(world, type)
    return labels.indexOf(String(a)) - labels.indexOf(String(b))
  }
  if (type.collation !== undefined) return placeOf(world, type.collation, a) - placeOf(world, type.collation, b)
  return rulesOf(type).compare(a as never, b as never)
}

const places = new WeakMap<readonly string[], ReadonlyMap<string, number>>()

/** The position of a text in the order of a collation, which depends on the server. */
function placeOf({ collations }: World, collation: string, value: Value): number {
  const texts = collations?.[collation] ?? []
  const known = places.get(texts) ?? new Map(texts.map((text, index) => [text, index]))
  places.set(texts, known)
  const place = known.get(String(value))
  if (place === undefined)
    throw new Error(`it is not known where ${JSON.stringify(value)} stands in collation ${collation}`)
  return place
}

/** Element by element; in arrays nulls are equal to each other and larger than other values (Postgres manual 9.19). */
function compareLists(world: World, type: ColumnType, a: readonly Value[], b: readonly Value[]): number {
  const element = { ...type, list: false }
  for (let index = 0; index < Math.min(a.length, b.length); index += 1) {
    const order = compareParts(world, element, a[index] ?? null, b[index] ?? null)
    if (order !== 0) return order
  }
  return a.length - b.length
}

/** Attribute by attribute, nulls as in arrays (Postgres manual 9.25.6). */
function compareComposites(world: World, type: ColumnType, a: CompositeValue, b: CompositeValue): number {
  for (const attribute of compositeNamed(world, type).attributes) {
    const order = compareParts(world, attribute.type, a[attribute.name] ?? null, b[attribute.name] ?? null)
    if (order !== 0) return order
  }
  return 0
}

function compareParts(world: World, type: ColumnType, a: Value, b: Value): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null)
  return compareValues(world, type, a, b)
}

/**
 * Reads a GraphQL input (or the text of a cursor's element) as a value of the type; a single value may represent a
 * list.
 */
export function readValue(world: World, type: ColumnType, input: Json): Value {
  if (input === null) return null
  if (type.list) {
    const items: readonly Json[] = Array.isArray(input) ? input : [input]
    return items.map((item) => readValue(world, { ...type, list: false }, item) as string)
  }
  if (type.base === 'enum') return labelOf(world, type, String(input))
  if (type.scale !== undefined) return printDecimal(roundDecimal(readDecimal(String(input)), type.scale))
  return rulesOf(type).canon(input)
}

/** A compared value has no length limit and no maximum of digits after the point (spec/graphql.md 3.4). */
export function readCompared(world: World, type: ColumnType, input: Json): Value {
  const { scale: _, ...rest } = type
  return readValue(world, { ...rest, base: type.base === 'numeric(8,2)' ? 'numeric' : type.base }, input)
}

const mappingsOf = (world: World, type: ColumnType): Readonly<Record<string, string>> =>
  world.enums.find((item) => item.name === type.enum)?.mappings ?? {}

/** A mapped name goes back to its label (spec/graphql.md 3.2). */
const labelOf = (world: World, type: ColumnType, word: string): string =>
  Object.entries(mappingsOf(world, type)).find(([, name]) => name === word)?.[0] ?? word

/**
 * The answered value: scalar enums under their mapped names, arrays of them raw (spec/graphql.md 3.2), or mapped too
 * with `enumArrays` (spec/graphql.md, decision 4).
 */
export function toAnswer(world: World, type: ColumnType, value: Value, enumArrays: boolean): Json {
  if (type.base === 'geometry' && value !== null) return withCrs(type.srid, JSON.parse(String(value)))
  if (type.json === true && value !== null) return JSON.parse(String(value)) as Json
  if (type.base === 'jsonb' && value !== null) return textOfJson(readJson(String(value)))
  if (type.base !== 'enum' || value === null) return value
  if (Array.isArray(value)) {
    return enumArrays ? value.map((item) => toAnswer(world, { ...type, list: false }, item as Value, false)) : value
  }
  return Object.entries(mappingsOf(world, type)).find(([label]) => label === value)?.[1] ?? value
}

/** Whether a comparison is true for two values in this order. */
export function operatorHolds(operator: string, order: number): boolean {
  switch (operator) {
    case 'eq':
      return order === 0
    case 'neq':
      return order !== 0
    case 'lt':
      return order < 0
    case 'lte':
      return order <= 0
    case 'gt':
      return order > 0
    case 'gte':
      return order >= 0
    default:
      throw new Error(`there is no operator ${operator}`)
  }
}
