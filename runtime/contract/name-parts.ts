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
  insertResponse: 'InsertResponse',
  updateResponse: 'UpdateResponse',
  deleteResponse: 'DeleteResponse',
  aggregate: 'Aggregate',
  sum: 'SumAggregateResult',
  avg: 'AvgAggregateResult',
  min: 'MinAggregateResult',
  max: 'MaxAggregateResult',
} as const

/** Further types of relations, by name: each addition declares those that it brings (compiler/additions/NAME/facts.ts). */
export interface AddedParts {}

export type CorePart = keyof typeof parts
export type NamePart = CorePart | keyof AddedParts

/** The types that an addition (spec/graphql.md 17) brings, by what their names add to the relation's own. */
export interface PartsAddition {
  readonly name: string
  readonly parts?: Readonly<Partial<Record<keyof AddedParts, string>>>
  /** Where a relation has it, each enum has a filter of lists. */
  readonly enumLists?: true
  /** Its types of relations are for writing only. */
  readonly writes?: true
  /** Those of them that change columns, as the input of an update does. */
  readonly changeInputs?: readonly (keyof AddedParts)[]
  /** Names of its other types, which are there where the manifest has a fact of its name. */
  readonly typeNames?: readonly string[]
  readonly forms?: readonly FormNames[]
}

export interface FormNames {
  readonly name: string
  /** The form, maybe of another addition, whose operators it has as well; without that form it does not exist. */
  readonly also?: string
  /** The input type of its conditions, and further types that it takes; they are reserved if it occurs. */
  readonly types: readonly [filter: string, ...others: string[]]
}

export interface PartTable {
  readonly suffixes: Readonly<Record<NamePart, string>>
  readonly list: readonly NamePart[]
  /** Additions that bring types, and some that bring none. */
  readonly additions: readonly string[]
  readonly enumLists: readonly string[]
  readonly typeNames: readonly Pick<PartsAddition, 'name' | 'typeNames'>[]
  /** Those of additions for writing only. */
  readonly writing: readonly NamePart[]
  /** The inputs that change columns. */
  readonly changing: readonly NamePart[]
  readonly additionOf: Readonly<Partial<Record<NamePart, string>>>
  /** Most names have no such suffix; one comparison shows that. */
  readonly anyPart: RegExp
  /** Suffixes that make a name conflict with its base, for any additions. */
  readonly endings: readonly string[]
  readonly anyEnding: RegExp
  readonly formTypes: ReadonlyMap<string, readonly string[]>
}

export function partTable(added: readonly PartsAddition[]): PartTable {
  const suffixes: PartTable['suffixes'] = Object.assign({}, parts, ...added.map((one) => one.parts))
  const list = Object.keys(suffixes) as readonly NamePart[]
  const brought = added.map((one) => [one.name, one.parts ?? {}] as const)
  const additionOf = Object.fromEntries(brought.flatMap(([name, own]) => Object.keys(own).map((part) => [part, name])))
  const endings = [...new Set([...Object.values(suffixes), ...infixesOf(suffixes, list)])].filter((one) => one !== '')
  const forms = added.flatMap((one) => one.forms ?? [])
  const others = (also?: string): readonly string[] => forms.find(({ name }) => name === also)?.types.slice(1) ?? []
  return {
    suffixes,
    list,
    additions: brought.map(([name]) => name),
    enumLists: added.flatMap(({ name, enumLists }) => (enumLists ? [name] : [])),
    typeNames: added.filter(({ typeNames }) => typeNames),
    writing: added.flatMap(({ writes, parts: own = {} }) => (writes ? (Object.keys(own) as (keyof typeof own)[]) : [])),
    changing: ['updateInput', ...added.flatMap(({ changeInputs = [] }) => changeInputs)],
    additionOf,
    anyPart: endingIn(Object.values(suffixes).filter((one) => one !== '')),
    endings,
    anyEnding: endingIn(endings),
    formTypes: new Map(forms.map(({ name, types, also }) => [name, [...types, ...others(also)]])),
  }
}

const endingIn = (endings: readonly string[]): RegExp => new RegExp(`(?:${endings.join('|')})$`)

export const partsWith = ({ list, additionOf }: PartTable, present: ReadonlySet<string>): readonly NamePart[] =>
  list.filter((part) => {
    const addition = additionOf[part]
    return addition === undefined || present.has(addition)
  })

/** Infixes between a base and a part that together are another part: `Relation` + `Filter`. */
export const infixesOf = (suffixes: PartTable['suffixes'], used: readonly NamePart[]): readonly string[] => [
  ...new Set(
    used.flatMap((long) =>
      used.flatMap((short) => {
        const rest = suffixes[long].slice(0, suffixes[long].length - suffixes[short].length)
        return short !== 'row' && rest !== '' && suffixes[long].endsWith(suffixes[short]) ? [rest] : []
      }),
    ),
  ),
]

/** A name and the bases of which it would be a part: `PostEdge` -> PostEdge, Post. */
export const basesOf = ({ anyPart, suffixes }: PartTable, name: string, used: readonly NamePart[]): readonly string[] =>
  anyPart.test(name)
    ? used.flatMap((part) =>
        name.endsWith(suffixes[part]) ? [name.slice(0, name.length - suffixes[part].length)] : [],
      )
    : [name]
