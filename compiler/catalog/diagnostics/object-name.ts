/**
 * Objects of the database in the owner's notation: `column public.posts.title`, `table "My Blog"."Posts"`. Source:
 * PostgreSQL manual, Identifiers and Key Words.
 */

const plain = /^[a-z_][a-z0-9_]*$/

const part = (name: string): string => (plain.test(name) ? name : `"${name.replaceAll('"', '""')}"`)

const path = (...names: readonly string[]): string => names.map(part).join('.')

const relationWords = {
  r: 'table',
  p: 'table',
  v: 'view',
  m: 'materialized view',
  f: 'foreign table',
} as const

type RelationKind = keyof typeof relationWords

/** The relation's kind in words, e.g. `view`. */
export const relationWord = (kind: RelationKind): (typeof relationWords)[RelationKind] => relationWords[kind]

/** Any object by the word for its kind and its qualified name. */
export const nameObject = (word: string, ...names: readonly string[]): string => `${word} ${path(...names)}`

/** The naming facts of a relation. */
export interface RelationLike {
  readonly schema: string
  readonly name: string
  readonly kind: RelationKind
}

export const nameSchema = (name: string): string => nameObject('schema', name)

export const nameRelation = (relation: RelationLike): string =>
  nameObject(relationWord(relation.kind), relation.schema, relation.name)

export const nameColumn = (relation: RelationLike, column: string): string =>
  nameObject('column', relation.schema, relation.name, column)

export const nameConstraint = (relation: RelationLike, constraint: string): string =>
  `constraint ${part(constraint)} on ${path(relation.schema, relation.name)}`

/** With its argument types, as COMMENT ON FUNCTION requires: `function public.add(integer, integer)`. */
export const nameFunction = ({ schema, name, args }: FunctionLike): string =>
  `${nameObject('function', schema, name)}(${args.map(({ typeText }) => typeText).join(', ')})`

/** The naming facts of a function. */
interface FunctionLike {
  readonly schema: string
  readonly name: string
  readonly args: readonly { readonly typeText: string }[]
}

/** Of a composite type. */
export const nameAttribute = (schema: string, type: string, attribute: string): string =>
  nameObject('attribute', schema, type, attribute)

export const nameType = (schema: string, name: string): string => nameObject('type', schema, name)
