const range = (scalar: string, ...pgTypes: readonly string[]): FilterForm => ({
  additions: ['rangeFilters'],
  pgTypes,
  types: [`${scalar}RangeFilter`],
})

const texts = ['text', 'varchar', 'bpchar'] as const

/**
 * Forms of values whose filters additions define (spec/graphql.md 17). To add one, add its row; the type checker then
 * asks for its operators in runtime/sql/forms.ts. Its type names are reserved if the form is present.
 */
export const filterForms = {
  json: {
    additions: ['jsonFilters'],
    pgTypes: ['json', 'jsonb'],
    types: ['JSONFilter', 'JSONPathFilter', 'JSONPathQuery'],
  },
  vector: { additions: ['search'], pgTypes: ['tsvector'], types: ['TSVectorFilter', 'SearchQuery', 'SearchRank'] },
  searchedText: { additions: ['search'], pgTypes: texts, types: ['SearchedStringFilter', 'SearchQuery', 'SearchRank'] },
  comparedText: { additions: ['textFilters'], pgTypes: texts, optional: 'pg_trgm', types: ['TextFilter'] },
  searchedAndComparedText: {
    additions: ['search', 'textFilters'],
    pgTypes: texts,
    optional: 'pg_trgm',
    types: ['SearchedTextFilter', 'SearchQuery', 'SearchRank'],
  },
  array: {
    additions: ['arrayFilters'],
    pgTypes: [],
    types: [
      'BigFloatArrayFilter',
      'BigIntArrayFilter',
      'BooleanArrayFilter',
      'DateArrayFilter',
      'DatetimeArrayFilter',
      'FloatArrayFilter',
      'IntArrayFilter',
      'StringArrayFilter',
      'TimeArrayFilter',
      'UUIDArrayFilter',
    ],
  },
  int4Range: range('Int', 'int4range', 'int4multirange'),
  int8Range: range('BigInt', 'int8range', 'int8multirange'),
  numericRange: range('BigFloat', 'numrange', 'nummultirange'),
  dateRange: range('Date', 'daterange', 'datemultirange'),
  timestampRange: range('Datetime', 'tsrange', 'tsmultirange'),
  timestamptzRange: range('Datetime', 'tstzrange', 'tstzmultirange'),
  ltree: { additions: ['ltreeFilters'], pgTypes: [], extension: 'ltree', types: ['LTreeFilter'] },
  network: { additions: ['networkFilters'], pgTypes: ['inet', 'cidr'], types: ['NetworkFilter'] },
} as const satisfies Readonly<Record<string, FilterForm>>

export interface FilterForm {
  /** The comment keys that enable it, all of them together. */
  readonly additions: readonly FormAddition[]
  /** Types of pg_catalog. */
  readonly pgTypes: readonly string[]
  /** The extension with a type of its name, in any schema; absent: built in. */
  readonly extension?: ExtensionName
  /** The extension whose operators it has in addition, if installed. */
  readonly optional?: ExtensionName
  /** The input type of its conditions, and further types that it takes. */
  readonly types: readonly [filter: string, ...others: string[]]
}

export const formAdditions = [
  'jsonFilters',
  'search',
  'textFilters',
  'rangeFilters',
  'arrayFilters',
  'networkFilters',
  'ltreeFilters',
] as const

/** Extensions whose operators filters use, and a type of each by which it is found. */
export const filterExtensions = { ltree: 'ltree', pg_trgm: 'gtrgm' } as const

export type ExtensionName = keyof typeof filterExtensions

export type FormName = keyof typeof filterForms
export type FormAddition = (typeof formAdditions)[number]

export const formNames = Object.keys(filterForms) as readonly FormName[]
