import type { FormName } from './filter-forms.ts'
import type { ValueType } from './manifest.ts'

/** The form in which values are compared; undefined where their scalar says how. */
export const formOf = (type: ValueType | null): FormName | undefined =>
  type?.kind === 'scalar' && !type.list ? type.form : undefined
