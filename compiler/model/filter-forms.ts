import {
  filterForms,
  formAdditions,
  formNames,
  type FormAddition,
  type FormName,
} from '../../runtime/contract/filter-forms.ts'
import { formOf } from '../../runtime/contract/form-of.ts'
import type { CompositeFacts, EntityFacts, Manifest, ValueType } from '../../runtime/contract/manifest.ts'
import { groupBy } from '../../runtime/lib/group-by.ts'
import type { Memo } from '../../runtime/lib/memo.ts'
import type { Steps } from '../../runtime/lib/steps.ts'
import type { AnnotatedType } from '../comments/types.ts'

/** Forms of values whose filters an addition brings (spec/graphql.md 17). */

/** Which forms of values have filters. */
export type FormSwitches = Readonly<Record<FormAddition, boolean>>

export const formSwitches = (settings: Readonly<Partial<Record<FormAddition, boolean | null>>> = {}): FormSwitches =>
  Object.fromEntries(formAdditions.map((name) => [name, settings[name] ?? false])) as FormSwitches

/** The form in which values of the type are filtered: the last one of the table that is on. */
export function formOfType(switches: FormSwitches, { schema, name }: AnnotatedType): FormName | undefined {
  const rows = schema === 'pg_catalog' ? (rowsByType.get(name) ?? []) : []
  return rows.find(({ form }) => filterForms[form].additions.every((addition) => switches[addition]))?.form
}

const rowsByType = groupBy(
  [...formNames].reverse().flatMap((form) => filterForms[form].pgTypes.map((name) => ({ form, name }))),
  ({ name }) => name,
)

const formsIn = (types: readonly (ValueType | null)[]): readonly FormName[] =>
  types.flatMap((type) => formOf(type) ?? [])

const formsOfComposite = ({ fields }: CompositeFacts): readonly FormName[] => formsIn(fields.map(({ type }) => type))

const formsOfEntity = ({ columns, computed }: EntityFacts): readonly FormName[] =>
  formsIn([
    ...columns.map(({ type }) => type),
    ...computed.map(({ result }) => (result.kind === 'value' ? result.type : null)),
  ])

/** The forms that some value has; absent where there is none, so that the manifest of those stays as it was. */
export function* formFacts(
  memo: Memo,
  composites: readonly CompositeFacts[],
  entities: readonly EntityFacts[],
): Steps<Pick<Manifest, 'forms'>> {
  const inComposites = yield* memo.each(formsOfComposite, composites)
  const found = new Set([...inComposites, ...(yield* memo.each(formsOfEntity, entities))].flat())
  const forms = formNames.filter((name) => found.has(name))
  return forms.length > 0 ? { forms } : {}
}
