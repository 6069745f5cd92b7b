import { GraphQLInputObjectType, GraphQLList, GraphQLNonNull, type GraphQLInputType } from 'graphql'
import { filterForms, formNames, type FilterForm, type FormName } from '../../contract/filter-forms.ts'
import type { ScalarName } from '../../contract/scalar-names.ts'
import { forms } from '../../sql/forms.ts'
import type { FormOperator } from '../../sql/form.ts'
import { jsonParts } from '../../sql/json-form.ts'
import { operators } from '../../sql/operators.ts'
import { elementQuantifiers } from '../../sql/quantifiers.ts'
import { listFilters, operandType, orderByDirection, scalarFilters, type OperandField } from './filters.ts'
import type { RoleVisibility } from '../view.ts'
import { scalars } from './scalars.ts'

/** The filter types of forms (spec/graphql.md 17): each exists only if some value has the form. */

const pathQuery = new GraphQLInputObjectType({
  name: 'JSONPathQuery',
  description: 'An SQL/JSON path.',
  fields: {
    path: {
      type: new GraphQLNonNull(scalars.String),
      description: 'The path as Postgres writes it, for example "$.tags[*] ? (@ == $tag)".',
    },
    variables: { type: scalars.JSON, description: 'The values of its variables: an object, as JSON.' },
  },
})

const searchQuery = new GraphQLInputObjectType({
  name: 'SearchQuery',
  description: 'What to search for.',
  fields: {
    query: { type: new GraphQLNonNull(scalars.String), description: 'The words to search for.' },
    config: {
      type: scalars.String,
      description: 'The text search configuration, for example "english". Default: that of the database.',
    },
  },
})

const searchRank = new GraphQLInputObjectType({
  name: 'SearchRank',
  description: 'Sorts by how well rows fit a query.',
  fields: {
    ...searchQuery.toConfig().fields,
    direction: {
      type: new GraphQLNonNull(orderByDirection),
      description: 'Those that fit best have the largest value.',
    },
  },
})

/** The type of an order by rank. */
export const rankType: GraphQLInputType = searchRank

const objects = { JSONPathQuery: pathQuery, SearchQuery: searchQuery } as const

const ownType = ({ takes, list, members }: FormOperator): GraphQLInputType =>
  members !== undefined
    ? objects[members.type]
    : list === true
      ? new GraphQLList(new GraphQLNonNull(scalars[takes]))
      : scalars[takes]

/** The fields of a form's filter, by name; `others` are those without an operator. */
function formFields(
  form: FormName,
  others: readonly OperandField[],
  isExtended: boolean,
): Readonly<Record<string, OperandField[1]>> {
  const { usual, scalar, own } = forms[form]
  const fields: readonly OperandField[] = [
    ...usual.map((name): OperandField => [
      name,
      { type: operandType(name, scalars[scalar]), description: operators[name].help },
    ]),
    ...Object.entries(own)
      .filter(([, { extension }]) => extension === undefined || isExtended)
      .map(([name, operator]): OperandField => [name, { type: ownType(operator), description: operator.help }]),
    ...others,
  ]
  return Object.fromEntries([...fields].sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** @param isExtended whether it has operators of extensions */
const filterOf = (
  form: FormName,
  others: () => readonly OperandField[] = () => [],
  isExtended = true,
): GraphQLInputObjectType =>
  new GraphQLInputObjectType({
    name: filterForms[form].types[0],
    description: `Conditions on ${forms[form].subject}; all that are given must hold.`,
    fields: () => formFields(form, others(), isExtended),
  })

const jsonFilter: GraphQLInputObjectType = filterOf('json', () => [
  [
    'path',
    {
      type: new GraphQLList(new GraphQLNonNull(pathFilter)),
      description: 'Conditions on what stands at these paths; all that are given must hold.',
    },
  ],
])

const pathFilter: GraphQLInputObjectType = new GraphQLInputObjectType({
  name: 'JSONPathFilter',
  description: 'Conditions on what stands at a path; all that are given must hold.',
  fields: () => ({
    at: {
      type: new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(scalars.String))),
      description: 'Keys, and positions of elements from 0 on; negative ones count from the end.',
    },
    ...Object.fromEntries(
      Object.entries(jsonParts).map(([name, { scalar, help }]) => [
        name,
        { type: name === 'json' ? jsonFilter : (scalarFilters.get(scalar) as GraphQLInputType), description: help },
      ]),
    ),
  }),
})

const datetimeRange = filterOf('timestampRange')

const arrayFilters: ReadonlyMap<ScalarName, GraphQLInputObjectType> = new Map(
  [...listFilters].map(([name, lists]) => {
    const type = scalarFilters.get(name) as GraphQLInputType
    const elements = Object.entries(elementQuantifiers).map(([quantifier, description]): OperandField => [
      quantifier,
      { type, description },
    ])
    const fields = [...Object.entries(lists.toConfig().fields), ...elements].sort(([a], [b]) => (a < b ? -1 : 1))
    return [
      name,
      new GraphQLInputObjectType({
        name: `${name}ArrayFilter`,
        description: `Conditions on a list of values of type ${name} and on its elements; all that are given must hold.`,
        fields: Object.fromEntries(fields),
      }),
    ]
  }),
)

/** The filter of lists with conditions on elements. */
export const arrayFilter = (name: ScalarName): GraphQLInputObjectType | undefined => arrayFilters.get(name)

const [anyArrayFilter = jsonFilter, ...otherArrayFilters] = arrayFilters.values()

const formTypes: Readonly<Record<FormName, FormTypes>> = {
  json: [jsonFilter, pathFilter, pathQuery],
  vector: [filterOf('vector'), searchQuery, searchRank],
  searchedText: [filterOf('searchedText'), searchQuery, searchRank],
  comparedText: [filterOf('comparedText')],
  searchedAndComparedText: [filterOf('searchedAndComparedText'), searchQuery, searchRank],
  array: [anyArrayFilter, ...otherArrayFilters],
  int4Range: [filterOf('int4Range')],
  int8Range: [filterOf('int8Range')],
  numericRange: [filterOf('numericRange')],
  dateRange: [filterOf('dateRange')],
  timestampRange: [datetimeRange],
  timestamptzRange: [datetimeRange],
  ltree: [filterOf('ltree')],
  network: [filterOf('network')],
}

type FormTypes = readonly [filter: GraphQLInputObjectType, ...others: GraphQLInputObjectType[]]

/** The filters of forms without an extension. */
const plainFilters = new Map<FormName, GraphQLInputObjectType>(
  formNames.filter((form) => 'optional' in filterForms[form]).map((form) => [form, filterOf(form, () => [], false)]),
)

/** The input types of a form for a role, its filter first. */
export function formTypesOf({ hasExtension }: Pick<RoleVisibility, 'hasExtension'>, form: FormName): FormTypes {
  const { optional }: FilterForm = filterForms[form]
  const [filter, ...others] = formTypes[form]
  const plain = optional === undefined || hasExtension(optional) ? undefined : plainFilters.get(form)
  return [plain ?? filter, ...others]
}
