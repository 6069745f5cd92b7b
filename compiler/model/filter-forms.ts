import {
  filterExtensions,
  filterForms,
  formAdditions,
  formNames,
  type FilterForm,
  type FormAddition,
  type FormName,
} from '../../runtime/contract/filter-forms.ts'
import { anyFormOf } from '../../runtime/contract/facts.ts'
import type { CompositeFacts, EntityFacts, Manifest, ValueType } from '../../runtime/contract/manifest.ts'
import { groupBy, type Steps } from '../../runtime/lib/steps.ts'
import type { Memo } from '../../runtime/lib/memo/memo.ts'
import type { AnnotatedType } from '../comments/annotated.ts'

/** Forms of values whose filters additions define (spec/graphql.md 17). */

/** The forms of values with filters. */
export type FormSwitches = Readonly<Record<FormAddition, boolean>>

export const formSwitches = (settings: Readonly<Partial<Record<FormAddition, boolean | null>>> = {}): FormSwitches =>
  Object.fromEntries(formAdditions.map((name) => [name, settings[name] ?? false])) as FormSwitches

/** The form in which values of the type are filtered: the last enabled one of the table. */
export function formOfType(switches: FormSwitches, type: AnnotatedType): FormName | undefined {
  const rows = (type.schema === 'pg_catalog' ? rowsByType : rowsByExtension).get(type.name) ?? []
  return rows.find(({ form }) => filterForms[form].additions.every((addition) => switches[addition]))?.form
}

const rowsByType = groupBy(
  [...formNames].reverse().flatMap((form) => filterForms[form].pgTypes.map((name) => ({ form, name }))),
  ({ name }) => name,
)

const rowsByExtension: typeof rowsByType = groupBy(
  formNames.flatMap((form) => {
    const { extension }: FilterForm = filterForms[form]
    return extension === undefined ? [] : [{ form, name: filterExtensions[extension] }]
  }),
  ({ name }) => name,
)

/** The schemas of extensions that these forms use. */
function extensionsOf(
  types: readonly AnnotatedType[],
  forms: readonly FormName[],
): NonNullable<Manifest['extensions']> {
  const used = new Set(
    forms.flatMap((form) => {
      const { extension, optional }: FilterForm = filterForms[form]
      return [extension ?? [], optional ?? []].flat()
    }),
  )
  const found = [...used].flatMap((name) => {
    const home = types.find((type) => type.kind === 'b' && type.name === filterExtensions[name])?.schema
    return home === undefined ? [] : [[name, home]]
  })
  return Object.fromEntries(found)
}

const none: readonly FormName[] = []

/** The same list for all without forms, which are most. */
const formsIn = (types: readonly (ValueType | null)[]): readonly FormName[] => {
  const forms = types.flatMap((type) => anyFormOf(type) ?? [])
  return forms.length === 0 ? none : forms
}

const formsFound = (...lists: readonly (readonly (readonly FormName[])[])[]): readonly FormName[] => {
  const found = new Set(lists.flat(2))
  return formNames.filter((name) => found.has(name))
}

const formsOfComposite = ({ fields }: CompositeFacts): readonly FormName[] => formsIn(fields.map(({ type }) => type))

const formsOfEntity = ({ columns, computed }: EntityFacts): readonly FormName[] =>
  formsIn([
    ...columns.map(({ type }) => type),
    ...computed.map(({ result }) => (result.kind === 'value' ? result.type : null)),
  ])

/** The forms that occur; absent without any, so that such manifests are unchanged. */
export function* formFacts(
  memo: Memo,
  types: readonly AnnotatedType[],
  composites: readonly CompositeFacts[],
  entities: readonly EntityFacts[],
): Steps<Pick<Manifest, 'forms' | 'extensions'>> {
  const inComposites = yield* memo.each(formsOfComposite, composites)
  const forms = memo.one(formsFound, inComposites, yield* memo.each(formsOfEntity, entities))
  const extensions = extensionsOf(types, forms)
  return { ...(forms.length > 0 && { forms }), ...(Object.keys(extensions).length > 0 && { extensions }) }
}
