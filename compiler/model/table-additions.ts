import { formAdditions } from '../../runtime/contract/filter-forms.ts'
import type { EntityAdditions } from '../../runtime/contract/manifest.ts'
import type { AnnotatedRelation } from '../comments/annotated.ts'
import type { ServedSchema } from './scope.ts'

/** Additions of a table or its schema (spec/graphql.md 17). */
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

/** The enabled ones; the table's setting takes precedence over its schema's. */
export const tableAdditions = ({ settings }: AnnotatedRelation, schema: ServedSchema): EntityAdditions =>
  Object.fromEntries(
    names.filter((name) => settings[name] ?? schema.settings[name] ?? false).map((name) => [name, true]),
  )
