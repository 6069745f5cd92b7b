import type { FormName } from './filter-forms.ts'
import type { ValueType } from './manifest.ts'

/** Whether the elements of a list can be filtered (`arrayFilters`). */
export const hasElementFilter = (type: ValueType | null): boolean =>
  type?.kind === 'scalar' && type.list && type.form === 'array'

/** Any form of a value. */
export const anyFormOf = (type: ValueType | null): FormName | undefined =>
  hasElementFilter(type) ? 'array' : formOf(type)

/** The form in which values are compared; undefined if their scalar decides. */
export const formOf = (type: ValueType | null): FormName | undefined =>
  type?.kind === 'scalar' && !type.list ? type.form : undefined
