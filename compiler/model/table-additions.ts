import { formAdditions } from '../../runtime/contract/filter-forms.ts'
import type { EntityAdditions } from '../../runtime/contract/manifest.ts'
import type { AnnotatedRelation } from '../comments/annotated.ts'
import type { ServedSchema } from './scope.ts'

/** Additions that a table or its schema switches on (spec/graphql.md 17). */
const names = [
  'relationFilters',
  'orderByRelated',
  'distinctOn',
  'upsert',
  'enumArrays',
  'groups',
  'updates',
  'nestedWrites',
  'columnFilters',
  'oneOf',
  ...formAdditions,
] as const satisfies readonly (keyof EntityAdditions)[]

/** Those that are on; the table's word goes before its schema's. */
export const tableAdditions = ({ settings }: AnnotatedRelation, schema: ServedSchema): EntityAdditions =>
  Object.fromEntries(
    names.filter((name) => settings[name] ?? schema.settings[name] ?? false).map((name) => [name, true]),
  )
