import type { CompiledOperation, RefusedForms } from '../../../runtime/graphql/compiled/format.ts'
import { namedInput, type DeclaredVariable } from '../../../runtime/graphql/variables/input-types.ts'
import { formOfVariable } from './form-of-variable.ts'

type Given = Readonly<Record<string, unknown>>

/** The forms of variables for which an operation was not compiled, derived from the examples of compiled ones. */
export function refusedForms(
  declared: readonly DeclaredVariable[],
  form: Pick<CompiledOperation, 'planned' | 'nulls' | 'lenient'>,
  compiled: readonly Given[],
): RefusedForms | null {
  if (form.lenient === true) return { others: {}, combined: false }
  const variables = declared.map((variable) => {
    const formOf = formOfVariable(variable, form)
    const forms = compiled.map((given) =>
      formOf(Object.hasOwn(given, variable.name) ? { [variable.name]: given[variable.name] } : {}),
    )
    return { variable, forms: [...new Set(forms)].filter((one) => one !== null).toSorted() }
  })
  const others = variables
    .filter(({ variable }) => hasOtherForms(variable, form))
    .map(({ variable, forms }) => [variable.name, forms] as const)
  const combined = variables.reduce((product, { forms }) => product * forms.length, 1) === compiled.length
  return others.length === 0 && combined ? null : { others: Object.fromEntries(others), combined }
}

/** Whether the variable may have an unpredictable form. */
function hasOtherForms({ name, type }: DeclaredVariable, { planned }: Pick<CompiledOperation, 'planned'>): boolean {
  const named = namedInput(type)
  const isList = (type.kind === 'non-null' ? type.of : type).kind === 'list'
  if (named.kind === 'object') return true
  if (named.kind === 'enum') return named.written && isList
  if (planned[name] === 'value') return named.text !== 'Boolean'
  return named.text === 'Cursor' || named.text === 'ID'
}
