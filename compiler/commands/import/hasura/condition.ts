import type { CatalogRelation, CatalogType } from '../../../catalog/catalog.ts'
import { isJsonObject, type JsonObject } from '../../../../runtime/lib/json.ts'
import { arrayText, type ArrayItem } from '../../../../runtime/sql/array-text.ts'
import { ident, qualified } from '../../../../runtime/sql/ident.ts'
import { literal } from '../../../../runtime/sql/tree.ts'
import { NotCarried } from '../imported.ts'
import { qualifiedName, textOfName, type Name, type Relationship, type TrackedTable, type World } from './tables.ts'

/** The schema of the functions that policies call; it is not served, so the API does not have them. */
export const permissionSchema = 'permissions'

/** A condition, and the word that joins its parts. */
interface Condition {
  readonly text: string
  readonly joins: 'and' | 'or' | null
}

const leaf = (text: string): Condition => ({ text, joins: null })
const always = leaf('true')
const never = leaf('false')

function junction(joins: 'and' | 'or', conditions: readonly Condition[]): Condition {
  const [neutral, absorbing] = joins === 'and' ? [always, never] : [never, always]
  const parts = conditions.filter(({ text }) => text !== neutral.text)
  if (parts.some(({ text }) => text === absorbing.text)) return absorbing
  const [first, second] = parts
  if (first === undefined || second === undefined) return first ?? neutral
  const inside = (one: Condition): string => (one.joins === null || one.joins === joins ? one.text : `(${one.text})`)
  return { text: parts.map(inside).join(` ${joins} `), joins }
}

interface Compared {
  readonly sql: string
  readonly type: CatalogType
}

/** Where names are looked up: a table of the database, and how SQL mentions its row. */
interface Scope {
  readonly relation: CatalogRelation
  readonly table: TrackedTable | undefined
  readonly row: string
  readonly whole: string
  readonly depth: number
}

/** The permissions that are translated together. */
export interface Translation {
  readonly world: World
  /** Whether a role (of Hasura) may read these columns of all rows. */
  readonly isReadable: (role: string, table: string, columns: ReadonlySet<string>) => boolean
  /** The functions that conditions so far call, by what they do. */
  readonly definers: Map<string, Definer>
}

/** The rows that one permission reads beyond its own, and for which role. */
interface Reading {
  readonly within: Translation
  readonly root: Scope
  /** The role in Hasura. */
  readonly role: string
  readonly letter: string
  /** Columns of other tables, by table. */
  readonly columns: Map<string, Set<string>>
  /** Schemas of types that are not Postgres' own, whose operators have to be found. */
  readonly schemas: Set<string>
}

/** A function of SQL that reads rows which the caller cannot read. */
export interface Definer {
  readonly name: string
  /** The table whose row it takes; null: it takes none. */
  readonly table: Name | null
  readonly body: string
  readonly schemas: readonly string[]
  readonly roles: Set<string>
}

const variable = /^x-hasura-[\w-]+$/i

/** The text of a session variable; the role is known where a policy is written. */
const sessionText = (name: string, role: string): string =>
  name.toLowerCase() === 'x-hasura-role'
    ? literal(role)
    : `(select ${permissionSchema}.session(${literal(name.toLowerCase())}))`

const isVariable = (value: unknown): value is string => typeof value === 'string' && variable.test(value)

const numeric = /^(?:smallint|integer|bigint|real|double precision|numeric)$/

const elementText = (item: unknown): ArrayItem =>
  Array.isArray(item) ? item.map(elementText) : item === null || item === undefined ? null : String(item)

/** A value as SQL that Postgres reads as one of the type. */
export function valueSql(value: unknown, type: CatalogType, role: string): string {
  if (value === null || value === undefined) return 'null'
  if (isVariable(value)) return `${sessionText(value, role)}::${type.text}`
  if (type.text === 'json' || type.text === 'jsonb') return literal(JSON.stringify(value))
  if (type.element !== null && Array.isArray(value)) return literal(arrayText(value.map(elementText)))
  if (typeof value === 'object') throw new NotCarried(`a value of the type ${type.text} is written as an object`)
  const text = String(value)
  const isPlain =
    (typeof value === 'number' && numeric.test(type.text)) || (typeof value === 'boolean' && type.text === 'boolean')
  return isPlain ? text : literal(text)
}

type Operator = (left: string, right: string) => string

const between =
  (operator: string): Operator =>
  (left, right) =>
    `${left} ${operator} ${right}`

/** Operators whose operand has the type of the column. */
const ofType: Readonly<Record<string, string>> = {
  eq: '=',
  neq: '<>',
  ne: '<>',
  gt: '>',
  lt: '<',
  gte: '>=',
  lte: '<=',
  contains: '@>',
  contained_in: '<@',
  ancestor: '@>',
  descendant: '<@',
}

const ofText: Readonly<Record<string, string>> = {
  like: 'like',
  nlike: 'not like',
  ilike: 'ilike',
  nilike: 'not ilike',
  similar: 'similar to',
  nsimilar: 'not similar to',
  regex: '~',
  iregex: '~*',
  nregex: '!~',
  niregex: '!~*',
  has_key: '?',
}

const ofTexts: Readonly<Record<string, string>> = { has_keys_any: '?|', has_keys_all: '?&' }

const ofColumns: Readonly<Record<string, string>> = {
  ceq: '=',
  cne: '<>',
  cneq: '<>',
  cgt: '>',
  clt: '<',
  cgte: '>=',
  clte: '<=',
}

const operatorIn = (operators: Readonly<Record<string, string>>, name: string): Operator | null =>
  Object.hasOwn(operators, name) ? between(operators[name] ?? '') : null

/** Hasura's names begin with `_`, in older metadata with `$`. */
const bareName = (name: string): string | null => (/^[_$][a-z]/.test(name) ? name.slice(1) : null)

const textType = { text: 'text', element: null } as CatalogType

function columnType(relation: CatalogRelation, column: string, reading: Reading): CatalogType {
  const oid = relation.columns.find(({ name }) => name === column)?.type
  const type = oid === undefined ? undefined : reading.within.world.type(oid)
  if (type === undefined) throw new NotCarried(`${textOfName(relation)} has no column ${column}`)
  if (type.schema !== 'pg_catalog') reading.schemas.add(type.schema)
  return type
}

function columnAt(scope: Scope, column: string, reading: Reading): Compared {
  const type = columnType(scope.relation, column, reading)
  if (scope.depth > 0) reading.columns.get(textOfName(scope.relation))?.add(column)
  return { sql: `${scope.row}.${ident(column)}`, type }
}

/** `column`, `[column]` of the same row, or `["$", column]` of the row that the permission is about. */
function otherColumn(value: unknown, scope: Scope, reading: Reading): string {
  const path = Array.isArray(value) ? value.map(String) : [String(value)]
  const [first, second] = path
  if (path.length === 1 && first !== undefined) return columnAt(scope, first, reading).sql
  if (path.length === 2 && first === '$' && second !== undefined) return columnAt(reading.root, second, reading).sql
  throw new NotCarried(`a column is compared with ${JSON.stringify(value)}`)
}

function membership(left: Compared, value: unknown, isIn: boolean, role: string): Condition {
  if (isVariable(value)) {
    const any = `${left.sql} = any (${sessionText(value, role)}::${left.type.text}[])`
    return leaf(isIn ? any : `not (${any})`)
  }
  if (!Array.isArray(value)) throw new NotCarried(`a list is expected in place of ${JSON.stringify(value)}`)
  if (value.length === 0) return isIn ? never : always
  const items = value.map((one) => valueSql(one, left.type, role)).join(', ')
  return leaf(`${left.sql} ${isIn ? 'in' : 'not in'} (${items})`)
}

function texts(value: unknown, role: string): string {
  if (isVariable(value)) return `${sessionText(value, role)}::text[]`
  if (!Array.isArray(value)) throw new NotCarried(`a list is expected in place of ${JSON.stringify(value)}`)
  return `array[${value.map((one) => literal(String(one))).join(', ')}]::text[]`
}

function operation(left: Compared, name: string, value: unknown, scope: Scope, reading: Reading): Condition {
  const { role } = reading
  const bare = bareName(name) ?? ''
  if (bare === 'is_null') return leaf(`${left.sql} is ${value === false ? 'not null' : 'null'}`)
  if (value === null && bare === 'eq') return leaf(`${left.sql} is null`)
  if (value === null && /^neq?$/.test(bare)) return leaf(`${left.sql} is not null`)
  if (bare === 'in' || bare === 'nin') return membership(left, value, bare === 'in', role)
  if (bare === 'cast' && isJsonObject(value) && Object.keys(value).every((type) => type === 'String'))
    return comparison({ sql: `${left.sql}::text`, type: textType }, value['String'], scope, reading)
  const typed = operatorIn(ofType, bare)
  if (typed !== null) return leaf(typed(left.sql, valueSql(value, left.type, role)))
  const textual = operatorIn(ofText, bare)
  if (textual !== null) return leaf(textual(left.sql, valueSql(value, textType, role)))
  const many = operatorIn(ofTexts, bare)
  if (many !== null) return leaf(many(left.sql, texts(value, role)))
  const columns = operatorIn(ofColumns, bare)
  if (columns !== null) return leaf(columns(left.sql, otherColumn(value, scope, reading)))
  throw new NotCarried(`the operator ${name} has no translation`)
}

/** A value in the place of operators is what the column equals. */
const comparison = (left: Compared, value: unknown, scope: Scope, reading: Reading): Condition =>
  isJsonObject(value)
    ? junction(
        'and',
        Object.entries(value).map(([name, operand]) => operation(left, name, operand, scope, reading)),
      )
    : operation(left, '_eq', value, scope, reading)

function exists(leads: NonNullable<Relationship['leads']>, where: unknown, scope: Scope, reading: Reading): Condition {
  const { target, pairs } = leads
  const relation = reading.within.world.relation(target)
  if (relation === undefined) throw new NotCarried(`the database has no table ${textOfName(target)}`)
  const row = `${reading.letter}${scope.depth + 1}`
  const inner: Scope = {
    relation,
    table: reading.within.world.tables.get(textOfName(target)),
    row,
    whole: `${row}.*`,
    depth: scope.depth + 1,
  }
  reading.columns.set(textOfName(target), reading.columns.get(textOfName(target)) ?? new Set())
  const on = pairs.map(([local, foreign]) =>
    leaf(`${columnAt(inner, foreign, reading).sql} = ${columnAt(scope, local, reading).sql}`),
  )
  const all = junction('and', [...on, translate(where, inner, reading)])
  return leaf(
    `exists (select from ${qualified(target.schema, target.name)} ${row}${all === always ? '' : ` where ${all.text}`})`,
  )
}

const scopeOf = (table: TrackedTable, row: string, whole: string): Scope => ({
  relation: table.relation,
  table,
  row,
  whole,
  depth: 0,
})

/** Related rows as the caller reads them, or by a function where that would be fewer. */
function related(
  name: string,
  leads: NonNullable<Relationship['leads']>,
  where: unknown,
  scope: Scope,
  reading: Reading,
): Condition {
  if (scope.depth > 0) return exists(leads, where, scope, reading)
  const inside = { ...reading, columns: new Map<string, Set<string>>() }
  const inline = exists(leads, where, scope, inside)
  if ([...inside.columns].every(([table, columns]) => reading.within.isReadable(reading.role, table, columns)))
    return inline
  const { table } = scope
  if (table === undefined) return inline
  const root = scopeOf(table, '($1)', '$1')
  const schemas = new Set<string>()
  const { text } = exists(leads, where, root, { ...inside, root, schemas })
  // Without a row, Postgres calls it once for a statement.
  if (!text.includes('($1)'))
    return leaf(`(select ${definerOf(reading, `${leads.target.name}_${name}`, null, text, schemas)}())`)
  return leaf(`${definerOf(reading, `${table.name}_${name}`, table, text, schemas)}(${scope.whole})`)
}

/** The function that has this body, by its name in SQL. */
function definerOf(
  { role, within: { definers } }: Reading,
  name: string,
  table: Name | null,
  body: string,
  schemas: ReadonlySet<string>,
): string {
  const key = JSON.stringify([table && textOfName(table), body])
  const base = name.slice(0, 50)
  const taken = new Set([...definers.values()].map((one) => one.name))
  let free = base
  for (let number = 2; taken.has(free); number++) free = `${base}_${number}`
  const definer = definers.get(key) ?? { name: free, table, body, schemas: [...schemas], roles: new Set<string>() }
  definers.set(key, definer)
  definer.roles.add(role)
  return qualified(permissionSchema, definer.name)
}

function memberCondition(name: string, value: unknown, scope: Scope, reading: Reading): Condition {
  const { relation, table } = scope
  if (relation.columns.some((column) => column.name === name))
    return comparison(columnAt(scope, name, reading), value, scope, reading)
  const relationship = table?.relationships.get(name)
  if (relationship !== undefined) {
    if (relationship.leads === null) throw new NotCarried(`the relationship ${name}: ${relationship.lack}`)
    return related(name, relationship.leads, value, scope, reading)
  }
  const computed = table?.computed.get(name)
  if (computed !== undefined)
    return comparison(
      { sql: `${qualified(computed.schema, computed.name)}(${scope.whole})`, type: textType },
      value,
      scope,
      reading,
    )
  const bare = bareName(name)
  if (bare === 'and' || bare === 'or')
    return junction(
      bare,
      (Array.isArray(value) ? value : [value]).map((one) => translate(one, scope, reading)),
    )
  if (bare === 'not') return leaf(`not (${translate(value, scope, reading).text})`)
  if (bare === 'exists' && isJsonObject(value)) {
    const target = qualifiedName(value['_table'] ?? value['$table'])
    return related('exists', { target, pairs: [] }, value['_where'] ?? value['$where'] ?? {}, scope, reading)
  }
  throw new NotCarried(`"${name}" is neither a column, a relationship nor a computed field of ${textOfName(relation)}`)
}

function translate(value: unknown, scope: Scope, reading: Reading): Condition {
  if (!isJsonObject(value)) throw new NotCarried(`a condition is expected in place of ${JSON.stringify(value)}`)
  return junction(
    'and',
    Object.entries(value).map(([name, one]) => memberCondition(name, one, scope, reading)),
  )
}

/**
 * Translates a condition of a permission (Hasura, Permissions, operators) to SQL for a policy of the table. It has the
 * same rows as Hasura, which reads related rows as its own role: a part that reads rows that the caller cannot read
 * calls a function. @throws NotCarried
 */
export function policyCondition(within: Translation, value: JsonObject, table: TrackedTable, role: string): string {
  const root = scopeOf(table, ident(table.name), `${ident(table.name)}.*`)
  const letter = /^t\d+$/.test(table.name) ? 'u' : 't'
  return translate(value, root, { within, root, role, letter, columns: new Map(), schemas: new Set() }).text
}
