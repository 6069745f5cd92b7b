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

type Switches = Readonly<Partial<Record<keyof EntityAdditions, boolean | null>>>

/** The enabled ones; the table's setting takes precedence over its schema's. */
export function tableAdditions({ settings }: AnnotatedRelation, schema: ServedSchema): EntityAdditions {
  const [own, others]: readonly Switches[] = [settings, schema.settings]
  return Object.fromEntries(
    [...names, ...schema.switches].filter((name) => own?.[name] ?? others?.[name] ?? false).map((name) => [name, true]),
  )
}
