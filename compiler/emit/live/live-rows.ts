import { bool, eachOf, integer, nullable, oneWordOf, text, type Read } from '../../catalog/catalog-rows.ts'
import type { Oid } from '../../catalog/catalog.ts'

/** The facts about objects that a read depends on (query.ts). */

const relation = {
  oid: text,
  schema: text,
  name: text,
  kind: oneWordOf('r', 'p', 'v', 'm', 'f', 't', 'S'),
  /** It belongs to Postgres. */
  system: bool,
  comment: nullable(text),
  schemaComment: nullable(text),
  parents: eachOf(text),
  children: eachOf(text),
  /** Conditions of its enabled policies, and a view's select: as pg_node_tree. */
  trees: eachOf(text),
  /** Columns whose equal values are equal texts. */
  pins: eachOf(text),
  /** Grantees of USAGE on its schema, and of some privilege on it or on a column. */
  usage: eachOf(text),
  rights: eachOf(text),
  subscribed: bool,
  /** Its changes are reported. */
  told: bool,
}

const fn = {
  oid: text,
  schema: text,
  name: text,
  system: bool,
  types: eachOf(text),
  language: text,
  volatility: oneWordOf('i', 's', 'v'),
  kind: oneWordOf('f', 'p', 'a', 'w'),
  source: text,
  /** A parsed body and the defaults of arguments: as pg_node_tree. */
  body: nullable(text),
  defaults: nullable(text),
  comment: nullable(text),
  /** Its own search path. */
  path: nullable(text),
  /** Functions of an aggregate. */
  parts: eachOf(text),
  argNames: eachOf(text),
  argModes: eachOf(text),
  /** Grantees of USAGE on its schema, and of EXECUTE. */
  usage: eachOf(text),
  rights: eachOf(text),
  returnsVoid: bool,
  returnsSet: bool,
}

const operator = { oid: text, code: text }

const named = { id: integer, kind: oneWordOf('relation', 'function'), oid: text }

type RowOf<Shape extends Readonly<Record<string, Read<unknown>>>> = {
  readonly [Name in keyof Shape]: Shape[Name] extends Read<infer T> ? T : never
}

export type RelationRow = RowOf<typeof relation>
export type FunctionRow = RowOf<typeof fn>

export interface ReadObjects {
  readonly relations: readonly RelationRow[]
  readonly functions: readonly FunctionRow[]
  /** The functions of operators. */
  readonly operators: readonly { readonly oid: Oid; readonly code: Oid }[]
  /** The possible meanings of names, by their ids. */
  readonly names: readonly RowOf<typeof named>[]
}

const readRows =
  <Shape extends Readonly<Record<string, Read<unknown>>>>(shape: Shape): Read<readonly RowOf<Shape>[]> =>
  (value) =>
    eachOf((row) => row as Readonly<Record<string, unknown>>)(value ?? []).map(
      (row) => Object.fromEntries(Object.entries(shape).map(([name, read]) => [name, read(row[name])])) as RowOf<Shape>,
    )

/** @throws TypeError if the answer has another shape */
export function decodeObjects(answer: string): ReadObjects {
  const lists = JSON.parse(answer) as Readonly<Record<keyof ReadObjects, unknown>>
  return {
    relations: readRows(relation)(lists.relations),
    functions: readRows(fn)(lists.functions),
    operators: readRows(operator)(lists.operators),
    names: readRows(named)(lists.names),
  }
}
