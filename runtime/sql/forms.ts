import type { FormName } from '../contract/filter-forms.ts'
import type { Form } from './form.ts'
import { jsonForm } from './json-form.ts'
import { ltreeForm } from './ltree-form.ts'
import { listOperators } from './operators.ts'
import { networkForm, rangeForm } from './range-form.ts'
import { searchedTextForm, vectorForm } from './search-form.ts'
import { comparedTextForm, searchedAndComparedTextForm } from './text-form.ts'

/** The filters of the forms of runtime/contract/filter-forms.ts. */
/** Conditions on elements are those of their scalar. */
const arrayForm: Form = { subject: 'a list', usual: listOperators, scalar: 'Opaque', own: {} }

export const forms: Readonly<Record<FormName, Form>> = {
  json: jsonForm,
  vector: vectorForm,
  searchedText: searchedTextForm,
  comparedText: comparedTextForm,
  searchedAndComparedText: searchedAndComparedTextForm,
  array: arrayForm,
  int4Range: rangeForm('Int', 'int4'),
  int8Range: rangeForm('BigInt', 'int8'),
  numericRange: rangeForm('BigFloat', 'numeric'),
  dateRange: rangeForm('Date', 'date'),
  timestampRange: rangeForm('Datetime', 'timestamp'),
  timestamptzRange: rangeForm('Datetime', 'timestamptz'),
  ltree: ltreeForm,
  network: networkForm,
}
