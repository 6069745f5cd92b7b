import type { Steps } from '../../runtime/lib/steps.ts'

/**
 * The lists in the answer of the catalogue query, as a table: field by field, with the check of its values. queries.ts
 * sends a list as one array per field (half the bytes of one object per row); readLists reads it back.
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
  members: { kind: oneWordOf('relation', 'function'), oid: text, extension: text },
  /** Comments with settings on kinds of objects without settings. */
  strays: { kind: text, name: text, comment: text },
  /** Functions, relations and domains that read claims individually, or leave state behind (queries/marks.ts). */
  needy: { kind: oneWordOf('claims', 'settings', 'session'), oid: text },
  /** Objects recorded as changed: rows of `filled` and `needy` are about these only. */
  touched: { oid: text },
} as const

export type ListName = keyof typeof ROWS

export type RowOf<K extends ListName> = {
  readonly [F in keyof (typeof ROWS)[K]]: (typeof ROWS)[K][F] extends Read<infer T> ? T : never
}

/** The answer of the catalogue query, checked: flat lists of rows, and single facts. */
export interface Lists extends ListsOfRows {
  readonly facts: CatalogFacts
}

export interface CatalogFacts {
  readonly version: string | null
  /** Whether the answer is complete: false if recorded changes were requested, but not all were recorded. */
  readonly isComplete: boolean
  /** The snapshot of the read, as pg_current_snapshot prints it. */
  readonly snapshot: string
  /** The counter of recorded changes in that snapshot, or null without a record. */
  readonly counter: string | null
  /** When the server was started: another value means another server, or a restored one. */
  readonly server: string
  readonly serverVersion: number
  readonly databaseOwner: string
  /** Whether Citus is there. */
  readonly distributes: boolean
}

type ListsOfRows = { readonly [K in ListName]: readonly RowOf<K>[] }

/** A row of the query's answer: a list, or a part of it, or the single facts. */
export interface AnswerPart {
  readonly part: ListName | 'facts'
  /** JSON. */
  readonly content: string
}

/**
 * Reads the answer of the query, a step for each part.
 * @throws TypeError with the place, if a value has another shape than in ROWS.
 */
export function* readLists(answer: readonly AnswerPart[]): Steps<Lists> {
  const lists = new Map<string, object[]>(Object.keys(ROWS).map((name) => [name, []]))
  let facts: Readonly<Record<string, unknown>> = {}
  for (const { part, content } of answer) {
    const value = objectFields(JSON.parse(content), part)
    if (part === 'facts') facts = value
    else for (const row of readRows(part, value)) lists.get(part)?.push(row)
    yield
  }
  const factOf = <T>(name: keyof CatalogFacts, read: Read<T>): T => readOne(name, read, facts[name])
  return {
    // The table defines the row of each list; TypeScript cannot follow that through Object.fromEntries.
    ...(Object.fromEntries(lists) as unknown as ListsOfRows),
    facts: {
      version: factOf('version', nullable(text)),
      isComplete: factOf('isComplete', bool),
      snapshot: factOf('snapshot', text),
      counter: factOf('counter', nullable(text)),
      server: factOf('server', text),
      serverVersion: factOf('serverVersion', integer),
      databaseOwner: factOf('databaseOwner', text),
      distributes: factOf('distributes', bool),
    },
  }
}

function readRows(name: ListName, arrays: Readonly<Record<string, unknown>>): readonly object[] {
  const fields = Object.entries<Read<unknown>>(ROWS[name]).map(
    ([field, read]) => [field, readArray(`${name}.${field}`, read, arrays[field])] as const,
  )
  const count = fields[0]?.[1].length ?? 0
  if (fields.some(([, values]) => values.length !== count)) throw new TypeError(`${name}: its fields differ in length`)
  const rows = Array.from({ length: count }, (): Record<string, unknown> => ({}))
  for (const [field, values] of fields) {
    rows.forEach((row, index) => {
      row[field] = values[index]
    })
  }
  return rows
}

function readArray(place: string, read: Read<unknown>, values: unknown): readonly unknown[] {
  if (!Array.isArray(values)) throw new TypeError(`${place}: expected a list`)
  let index = 0
  try {
    return values.map((value: unknown, at) => {
      index = at
      return read(value)
    })
  } catch (error) {
    throw placed(`${place}[${index}]`, error)
  }
}

function readOne<T>(place: string, read: Read<T>, value: unknown): T {
  try {
    return read(value)
  } catch (error) {
    throw placed(place, error)
  }
}

const placed = (place: string, error: unknown): unknown =>
  error instanceof TypeError ? new TypeError(`${place}: ${error.message}`) : error

function objectFields(value: unknown, place: string): Readonly<Record<string, unknown>> {
  if (typeof value === 'object' && value !== null) return value as Record<string, unknown>
  throw new TypeError(`${place}: expected an object`)
}
