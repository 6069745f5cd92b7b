import { formOf } from '../../runtime/contract/facts.ts'
import type { CompositeFacts, EntityFacts, Manifest, ValueType } from '../../runtime/contract/manifest.ts'
import type { Memo } from '../../runtime/lib/memo/memo.ts'
import type { Steps } from '../../runtime/lib/steps.ts'
import { formsOf, type Form } from '../../runtime/sql/form.ts'
import type { AnnotatedType } from '../comments/annotated.ts'
import type { ServedSchema, SwitchedAddition } from './scope.ts'

/** Forms of values whose filters additions define (spec/graphql.md 17). */

/** The forms that are switched on, a combined one before those that it combines. */
export const enabledForms = ({ forms }: Pick<ServedSchema, 'forms'>, isOn: (key: string) => boolean): readonly Form[] =>
  [...forms.values()].filter(({ keys }) => keys.every(isOn)).sort((a, b) => b.keys.length - a.keys.length)

export const formOfType = (enabled: readonly Form[], { schema, name }: AnnotatedType): string | undefined =>
  enabled.find(({ pgTypes, extension }) =>
    schema === 'pg_catalog' ? pgTypes?.includes(name) : extension?.type === name,
  )?.name

function extensionsOf(types: readonly AnnotatedType[], forms: readonly Form[]): NonNullable<Manifest['extensions']> {
  const used = forms.flatMap(({ extension, optional }) => [extension ?? [], optional ?? []].flat())
  const found = used.flatMap(({ name, type }) => {
    const home = types.find((one) => one.kind === 'b' && one.name === type)?.schema
    return home === undefined ? [] : [[name, home]]
  })
  return Object.fromEntries(found)
}

const none: readonly string[] = []

/** The same list for all without forms, which are most. */
const formsIn = (types: readonly (ValueType | null)[]): readonly string[] => {
  const forms = types.flatMap((type) => formOf(type) ?? [])
  return forms.length === 0 ? none : forms
}

const formsFound = (...lists: readonly (readonly (readonly string[])[])[]): readonly string[] =>
  [...new Set(lists.flat(2))].sort()

const formsOfComposite = ({ fields }: CompositeFacts): readonly string[] => formsIn(fields.map(({ type }) => type))

const formsOfEntity = ({ columns, computed }: EntityFacts): readonly string[] =>
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
  additions: readonly SwitchedAddition[],
): Steps<Pick<Manifest, 'forms' | 'extensions'>> {
  const inComposites = yield* memo.each(formsOfComposite, composites)
  const forms = memo.one(formsFound, inComposites, yield* memo.each(formsOfEntity, entities))
  if (forms.length === 0) return {}
  const used = [...formsOf(additions).values()].filter(({ name }) => forms.includes(name))
  const extensions = extensionsOf(types, used)
  return { forms, ...(Object.keys(extensions).length > 0 && { extensions }) }
}
