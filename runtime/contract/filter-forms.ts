const range = (scalar: string, ...pgTypes: readonly string[]): FilterForm => ({
  additions: ['rangeFilters'],
  pgTypes,
  types: [`${scalar}RangeFilter`],
})

/**
 * Forms of values whose filters additions bring (spec/graphql.md 17). To add one, add its row; the compiler then asks
 * for its operators in runtime/sql/forms.ts. The names of its types are nobody else's where the form is there.
 */
export const filterForms = {
  json: {
    additions: ['jsonFilters'],
    pgTypes: ['json', 'jsonb'],
    types: ['JSONFilter', 'JSONPathFilter', 'JSONPathQuery'],
  },
  vector: { additions: ['search'], pgTypes: ['tsvector'], types: ['TSVectorFilter', 'SearchQuery', 'SearchRank'] },
  searchedText: {
    additions: ['search'],
    pgTypes: ['text', 'varchar', 'bpchar'],
    types: ['SearchedStringFilter', 'SearchQuery', 'SearchRank'],
  },
  int4Range: range('Int', 'int4range', 'int4multirange'),
  int8Range: range('BigInt', 'int8range', 'int8multirange'),
  numericRange: range('BigFloat', 'numrange', 'nummultirange'),
  dateRange: range('Date', 'daterange', 'datemultirange'),
  timestampRange: range('Datetime', 'tsrange', 'tsmultirange'),
  timestamptzRange: range('Datetime', 'tstzrange', 'tstzmultirange'),
  network: { additions: ['networkFilters'], pgTypes: ['inet', 'cidr'], types: ['NetworkFilter'] },
} as const satisfies Readonly<Record<string, FilterForm>>

interface FilterForm {
  /** The keys of a comment that switch it on, all of them together. */
  readonly additions: readonly FormAddition[]
  /** Types of pg_catalog. */
  readonly pgTypes: readonly string[]
  /** The input type of its conditions, and those that it takes. */
  readonly types: readonly [filter: string, ...others: string[]]
}

export const formAdditions = ['jsonFilters', 'search', 'rangeFilters', 'networkFilters'] as const

export type FormName = keyof typeof filterForms
export type FormAddition = (typeof formAdditions)[number]

export const formNames = Object.keys(filterForms) as readonly FormName[]
