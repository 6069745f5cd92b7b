/**
 * Forms of values whose filters an addition brings (spec/graphql.md 17). To add one, add its row; the compiler then asks
 * for its operators in runtime/sql/forms.ts. The names of its types are nobody else's where the form is there.
 */
export const filterForms = {
  json: {
    addition: 'jsonFilters',
    pgTypes: ['json', 'jsonb'],
    types: ['JSONFilter', 'JSONPathFilter', 'JSONPathQuery'],
  },
} as const satisfies Readonly<Record<string, FilterForm>>

interface FilterForm {
  /** The key of a comment that switches it on. */
  readonly addition: string
  /** Types of pg_catalog. */
  readonly pgTypes: readonly string[]
  /** The input type of its conditions, and those that it takes. */
  readonly types: readonly [filter: string, ...others: string[]]
}

export type FormName = keyof typeof filterForms
export type FormAddition = (typeof filterForms)[FormName]['addition']

export const formNames = Object.keys(filterForms) as readonly FormName[]

export const formAdditions = [...new Set(formNames.map((name) => filterForms[name].addition))]
