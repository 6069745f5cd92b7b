/**
 * The lists in the answer of the catalogue query, as a table: field by field, with the check of its values. queries.ts
 * sends a list as one array per field (half the bytes of one object per row); lists.ts reads it back.
 */

/** Reads one value; throws a TypeError if it has another shape. */
export type Read<T> = (value: unknown) => T

const expected = (what: string, value: unknown): never => {
  throw new TypeError(`expected ${what}, found ${JSON.stringify(value) ?? 'nothing'}`)
}

export const text: Read<string> = (value) => (typeof value === 'string' ? value : expected('a text', value))
export const bool: Read<boolean> = (value) => (typeof value === 'boolean' ? value : expected('true or false', value))
export const integer: Read<number> = (value) =>
  typeof value === 'number' && Number.isSafeInteger(value) ? value : expected('an integer', value)
const number: Read<number> = (value) => (typeof value === 'number' ? value : expected('a number', value))

export const nullable =
  <T>(read: Read<T>): Read<T | null> =>
  (value) =>
    value === null ? null : read(value)

export const eachOf =
  <T>(read: Read<T>): Read<readonly T[]> =>
  (value) =>
    Array.isArray(value) ? value.map(read) : expected('a list', value)

export const oneWordOf =
  <const T extends string>(...words: readonly T[]): Read<T> =>
  (value) =>
    words.find((word) => word === value) ?? expected(`one of ${words.join(', ')}`, value)

/** The text of an aclitem[]: a key into the list of grants. */
const acl = text

export const ROWS = {
  roles: { oid: text, name: text, superuser: bool, inherit: bool, bypassRls: bool },
  memberships: { member: text, group: text, inherits: bool },
  grants: { acl, grantee: text, privilege: text },
  schemas: { oid: text, name: text, comment: nullable(text), acl },
  /** Objects that were known and are gone; possibly also unknown ones. */
  gone: { kind: oneWordOf('relation', 'function'), oid: text },
  relations: {
    oid: text,
    hash: nullable(text),
    served: bool,
    schema: text,
    name: text,
    kind: oneWordOf('r', 'p', 'v', 'm', 'f'),
    owner: text,
    comment: nullable(text),
    rowSecurity: bool,
    rowType: text,
    inherited: bool,
    acl,
  },
  columns: {
    relation: text,
    name: text,
    number: integer,
    type: text,
    modifier: integer,
    collation: nullable(text),
    notNull: bool,
    generated: bool,
    identity: bool,
    serial: bool,
    hasDefault: bool,
    comment: nullable(text),
    acl: nullable(acl),
  },
  /** Sequences that a column of the relation owns. */
  sequences: { relation: text, sequence: text },
  uniques: {
    relation: text,
    name: text,
    primary: bool,
    arbiter: bool,
    identifying: bool,
    numbers: eachOf(integer),
    parts: nullable(eachOf(text)),
    predicate: nullable(text),
  },
  foreignKeys: {
    oid: text,
    name: text,
    relation: text,
    numbers: eachOf(integer),
    foreignOid: text,
    foreignSchema: text,
    foreignRelation: text,
    foreignNumbers: eachOf(integer),
    guaranteed: bool,
    comment: nullable(text),
  },
  typeTexts: { type: text, modifier: integer, text },
  types: {
    oid: text,
    schema: text,
    name: text,
    kind: oneWordOf('b', 'c', 'd', 'e', 'p', 'r', 'm'),
    element: nullable(text),
    delimiter: text,
    base: nullable(text),
    modifier: integer,
    hasDefault: bool,
    relationOid: nullable(text),
    relationSchema: nullable(text),
    relationName: nullable(text),
    standAlone: nullable(bool),
    attributes: nullable(eachOf(text)),
    attributeTypes: nullable(eachOf(text)),
    attributeModifiers: nullable(eachOf(integer)),
    labels: eachOf(text),
    orderSchemas: nullable(eachOf(text)),
    orderNames: nullable(eachOf(text)),
    patternSchemas: nullable(eachOf(text)),
    patternNames: nullable(eachOf(text)),
    comment: nullable(text),
    acl,
  },
  /** Schemas that are not served, of types. */
  typeSchemas: { name: text, acl },
  functions: {
    oid: text,
    hash: text,
    schema: text,
    name: text,
    kind: oneWordOf('f', 'p', 'a', 'w'),
    volatility: oneWordOf('i', 's', 'v'),
    returnsSet: bool,
    rows: number,
    result: text,
    variadic: bool,
    types: eachOf(text),
    modes: nullable(eachOf(oneWordOf('i', 'o', 'b', 'v', 't'))),
    names: nullable(eachOf(text)),
    defaultCount: integer,
    defaults: nullable(text),
    comment: nullable(text),
    acl,
  },
  /** Tables with a trigger that may set columns of a new row. */
  filled: { relation: text },
  /** Objects of extensions. */
  members: { kind: oneWordOf('relation', 'function'), oid: text, extension: text },
  /** Comments with settings on kinds of objects without settings. */
  strays: { kind: text, name: text, comment: text },
  /** Functions, relations and domains that read claims individually, or leave state behind (queries/marks.ts). */
  needy: { kind: oneWordOf('claims', 'settings', 'session'), oid: text },
  /** Objects recorded as changed: rows of `filled` and `needy` are about these only. */
  touched: { oid: text },
} as const

export type ListName = keyof typeof ROWS

/** A row of a list, as its checks read it. */
export type RowOf<K extends ListName> = {
  readonly [F in keyof (typeof ROWS)[K]]: (typeof ROWS)[K][F] extends Read<infer T> ? T : never
}
