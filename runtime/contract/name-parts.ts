import type { EntityAdditions } from './manifest.ts'

/**
 * Names of the fields that a relation adds to Query and Mutation (spec/graphql.md 1.5, 10.1). The runtime serves them,
 * and the compiler decides between two relations with one name.
 */

/** Lower-cases the first character only: `URL` becomes `uRL`. */
export function lowerFirst(name: string): string {
  const [first = ''] = name
  return first.toLowerCase() + name.slice(first.length)
}

/** The other name that lowerFirst maps to the same result; GraphQL names are ASCII. */
export const upperFirst = (name: string): string => name.slice(0, 1).toUpperCase() + name.slice(1)

/** Prefix and suffix of the base name; without a prefix, it begins with a lower case letter. */
const affixes = {
  collection: ['', 'Collection'],
  byKey: ['', 'ByPk'],
  insert: ['insertInto', 'Collection'],
  update: ['update', 'Collection'],
  delete: ['deleteFrom', 'Collection'],
  updateRows: ['update', 'Rows'],
} as const

export type RootField = keyof typeof affixes

/** The field of this kind for a relation with the base name. */
export function rootField(kind: RootField, base: string): string {
  const [before, after] = affixes[kind]
  return before + (before === '' ? lowerFirst(base) : base) + after
}

/** The base name in a field of this kind; undefined if the name is not such a field. */
export function baseOfField(kind: RootField, field: string): string | undefined {
  const [before, after] = affixes[kind]
  const fits = field.length > before.length + after.length && field.startsWith(before) && field.endsWith(after)
  return fits ? field.slice(before.length, -after.length) : undefined
}

/** The types of a relation, by what their names add to the relation's own (spec/graphql.md 2.2). */
export const parts = {
  row: '',
  connection: 'Connection',
  edge: 'Edge',
  filter: 'Filter',
  orderBy: 'OrderBy',
  insertInput: 'InsertInput',
  updateInput: 'UpdateInput',
  rowInput: 'RowInput',
  increment: 'IncrementInput',
  multiply: 'MultiplyInput',
  append: 'AppendInput',
  prepend: 'PrependInput',
  remove: 'RemoveInput',
  setKey: 'SetKeyInput',
  unsetKey: 'UnsetKeyInput',
  keyInput: 'KeyInput',
  parentInput: 'ParentInput',
  childInput: 'ChildInput',
  childrenInput: 'ChildrenInput',
  relatedInput: 'RelatedInput',
  parentChange: 'ParentChange',
  optionalParentChange: 'OptionalParentChange',
  childChange: 'ChildChange',
  movableChildChange: 'MovableChildChange',
  optionalChildChange: 'OptionalChildChange',
  childrenChange: 'ChildrenChange',
  movableChildrenChange: 'MovableChildrenChange',
  optionalChildrenChange: 'OptionalChildrenChange',
  insertResponse: 'InsertResponse',
  updateResponse: 'UpdateResponse',
  deleteResponse: 'DeleteResponse',
  aggregate: 'Aggregate',
  sum: 'SumAggregateResult',
  avg: 'AvgAggregateResult',
  min: 'MinAggregateResult',
  max: 'MaxAggregateResult',
  relationFilter: 'RelationFilter',
  columnFilter: 'ColumnFilter',
  columnComparison: 'ColumnComparison',
  comparedColumn: 'ComparedColumn',
  relationOrderBy: 'RelationOrderBy',
  distinctField: 'DistinctField',
  onConflict: 'OnConflict',
  constraint: 'Constraint',
  updateField: 'UpdateField',
  groupBy: 'GroupBy',
  grouped: 'Grouped',
  groupKey: 'GroupKey',
  groupWidths: 'GroupWidths',
  groupOrder: 'GroupOrder',
  groupKeyOrder: 'GroupKeyOrder',
  dayOfWeek: 'GroupDayOfWeek',
  dayOfWeekOrder: 'GroupDayOfWeekOrder',
  hourOfDay: 'GroupHourOfDay',
  hourOfDayOrder: 'GroupHourOfDayOrder',
  sumOrder: 'SumOrder',
  avgOrder: 'AvgOrder',
  minOrder: 'MinOrder',
  maxOrder: 'MaxOrder',
  having: 'Having',
  havingSum: 'HavingSum',
  havingAvg: 'HavingAvg',
  havingMin: 'HavingMin',
  havingMax: 'HavingMax',
  countDistinct: 'CountDistinctResult',
  countDistinctOrder: 'CountDistinctOrder',
  havingCountDistinct: 'HavingCountDistinct',
  flags: 'FlagResult',
  flagOrder: 'FlagOrder',
  havingFlag: 'HavingFlag',
  percentiles: 'PercentileResult',
  percentileOrder: 'PercentileOrder',
  percentileColumnOrder: 'PercentileColumnOrder',
  havingPercentile: 'HavingPercentile',
  havingPercentileColumn: 'HavingPercentileColumn',
  listed: 'ValuesResult',
} as const

export type NamePart = keyof typeof parts
export const partList = Object.keys(parts) as readonly NamePart[]

/** Parts of additions: their names are free until some relation has the addition. */
const additionOf: Readonly<Partial<Record<NamePart, keyof EntityAdditions>>> = {
  rowInput: 'updates',
  increment: 'updates',
  multiply: 'updates',
  append: 'updates',
  prepend: 'updates',
  remove: 'updates',
  setKey: 'updates',
  unsetKey: 'updates',
  keyInput: 'nestedWrites',
  parentInput: 'nestedWrites',
  childInput: 'nestedWrites',
  childrenInput: 'nestedWrites',
  relatedInput: 'nestedWrites',
  parentChange: 'nestedWrites',
  optionalParentChange: 'nestedWrites',
  childChange: 'nestedWrites',
  movableChildChange: 'nestedWrites',
  optionalChildChange: 'nestedWrites',
  childrenChange: 'nestedWrites',
  movableChildrenChange: 'nestedWrites',
  optionalChildrenChange: 'nestedWrites',
  relationFilter: 'relationFilters',
  columnFilter: 'columnFilters',
  columnComparison: 'columnFilters',
  comparedColumn: 'columnFilters',
  relationOrderBy: 'orderByRelated',
  distinctField: 'distinctOn',
  onConflict: 'upsert',
  constraint: 'upsert',
  updateField: 'upsert',
  groupBy: 'groups',
  grouped: 'groups',
  groupKey: 'groups',
  groupWidths: 'groups',
  groupOrder: 'groups',
  groupKeyOrder: 'groups',
  dayOfWeek: 'groups',
  dayOfWeekOrder: 'groups',
  hourOfDay: 'groups',
  hourOfDayOrder: 'groups',
  sumOrder: 'groups',
  avgOrder: 'groups',
  minOrder: 'groups',
  maxOrder: 'groups',
  having: 'groups',
  havingSum: 'groups',
  havingAvg: 'groups',
  havingMin: 'groups',
  havingMax: 'groups',
  countDistinct: 'groups',
  countDistinctOrder: 'groups',
  havingCountDistinct: 'groups',
  flags: 'groups',
  flagOrder: 'groups',
  havingFlag: 'groups',
  percentiles: 'groups',
  percentileOrder: 'groups',
  percentileColumnOrder: 'groups',
  havingPercentile: 'groups',
  havingPercentileColumn: 'groups',
  listed: 'groups',
}

export const nameAdditions = [...new Set(Object.values(additionOf)), 'enumArrays'] as const

/** The parts of relations with these additions. */
export const partsWith = (present: ReadonlySet<string>): readonly NamePart[] =>
  partList.filter((part) => {
    const addition = additionOf[part]
    return addition === undefined || present.has(addition)
  })

/** Infixes between a base and a part that together are another part: `Relation` + `Filter`. */
export const infixesOf = (used: readonly NamePart[]): readonly string[] => [
  ...new Set(
    used.flatMap((long) =>
      used.flatMap((short) => {
        const rest = parts[long].slice(0, parts[long].length - parts[short].length)
        return short !== 'row' && rest !== '' && parts[long].endsWith(parts[short]) ? [rest] : []
      }),
    ),
  ),
]

/** Most names have no such suffix; one comparison shows that. */
export const anyPart = new RegExp(`(?:${partList.flatMap((part) => parts[part] || []).join('|')})$`)

/** A name and the bases of which it would be a part: `PostEdge` -> PostEdge, Post. */
export const basesOf = (name: string, used: readonly NamePart[]): readonly string[] =>
  anyPart.test(name)
    ? used.flatMap((part) => (name.endsWith(parts[part]) ? [name.slice(0, name.length - parts[part].length)] : []))
    : [name]
