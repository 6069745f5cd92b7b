import { hasFilter, scalarTable } from '../../runtime/sql/scalars.ts'
import { extensionTypes, opaqueType, type PgType, pgTypes } from '../../runtime/sql/pg-types.ts'
import { objectId } from '../../runtime/contract/facts.ts'
import type { TypeFacts } from '../../runtime/contract/manifest.ts'
import type { Oid, CatalogOrder } from '../catalog/catalog.ts'
import { isOn } from '../comments/additions.ts'
import type { AnnotatedFunction, AnnotatedType } from '../comments/annotated.ts'
import type { Lookup } from '../../runtime/lib/memo/tables.ts'
import type { ServedEnum } from './enums.ts'
import type { Form } from '../../runtime/sql/form.ts'
import { enabledForms, formOfType } from './filter-forms.ts'
import type { ModelScope, ServedSchema, ValueReading } from './scope.ts'
import type { JsonForm, CastSql, OrderSql } from './model.ts'
import { ident } from '../../runtime/sql/ident.ts'

/** The facts about a value of some Postgres type (spec/graphql.md 3.1). */
export interface ValueFacts extends TypeFacts, Pick<PgType, 'limited' | 'alike' | 'aggregate'> {
  readonly json: JsonForm
  readonly filter: boolean
  readonly order: boolean
}

declare module './scope.ts' {
  interface ValueReading {
    /** The type that values of a type are treated as; undefined: their own. */
    readonly under?: (scope: ModelScope, type: AnnotatedType) => AnnotatedType | undefined
    /** The value of a type; undefined: the core reads it. */
    readonly value?: (scope: ModelScope, type: AnnotatedType) => ValueFacts | undefined
    readonly list?: (element: ValueFacts) => Partial<ValueFacts>
    /** Functions of further shapes are served. */
    readonly shapes?: true
    /** Of values in statements. */
    readonly sql?: (type: AnnotatedType, modifier: number) => Partial<CastSql>
  }
}

/** Additions of spec/graphql.md 17 for values: those of their table or function. */
export interface ValueAdditions {
  /** The forms of values with filters, see enabledForms. */
  readonly forms: readonly Form[]
  readonly readings: readonly ValueReading[]
}

/** Those of the settings of a schema, and maybe of a relation before it. */
export function valueAdditions(
  schema: Pick<ServedSchema, 'settings' | 'forms' | 'readings'>,
  ...commented: readonly { readonly settings: object }[]
): ValueAdditions {
  const isEnabled = (name: string): boolean => isOn(name, ...commented, schema)
  return {
    forms: enabledForms(schema, isEnabled),
    readings: schema.readings.flatMap(({ name, values }) => (isEnabled(name) ? [values] : [])),
  }
}

const noAdditions: ValueAdditions = { forms: [], readings: [] }

export function additionsOfSchema({ schemas }: ModelScope, name: string): ValueAdditions {
  const schema = schemas.get(name)
  return schema === undefined ? noAdditions : valueAdditions(schema)
}

/**
 * The additions of a function: functions of extensions have the usual shape, unless their own comment names them
 * (spec/graphql.md, decision 17).
 */
export function additionsOfFunction(
  scope: ModelScope,
  { schema, ofExtension, settings }: AnnotatedFunction,
): ValueAdditions {
  const asked = additionsOfSchema(scope, schema)
  return ofExtension !== undefined && settings.name === null
    ? { ...asked, readings: asked.readings.filter(({ shapes }) => !shapes) }
    : asked
}

/** Whether functions of further shapes are served: overloads, nameless arguments, enums, arguments beside a row. */
export const servesShapes = ({ readings }: ValueAdditions): boolean => readings.some(({ shapes }) => shapes)

/** The manifest's facts about a value's type. */
export const typeFacts = ({ type, typeSchema, underSchema }: ValueFacts): TypeFacts => ({
  type,
  typeSchema,
  ...(underSchema !== undefined && { underSchema }),
})

export type Values = (oid: Oid, asked: ValueAdditions) => ValueFacts | null

/**
 * The reader of types: a type's value, or null for unsupported types: composites, row types, domains over arrays,
 * arrays of composites, pseudo-types. It reads a type once for the same `asked`: many columns have few types.
 */
export function readValues(scope: ValueScope): Values {
  const read = new WeakMap<ValueAdditions, Map<Oid, ValueFacts | null>>()
  return (oid, asked) => {
    const values = read.get(asked) ?? new Map<Oid, ValueFacts | null>()
    read.set(asked, values)
    const known = values.get(oid)
    const value = known === undefined ? readValue({ scope, asked }, oid) : known
    values.set(oid, value)
    return value
  }
}

export interface ValueScope extends ModelScope {
  readonly enums: Lookup<ServedEnum>
}

interface Reading {
  readonly scope: ValueScope
  readonly asked: ValueAdditions
}

function readValue(reading: Reading, oid: Oid): ValueFacts | null {
  const { scope, asked } = reading
  const type = scope.types.get(oid)
  if (type === undefined) return null
  const under = typeUnder(scope, type, asked)
  if (under !== undefined) return valueUnder(reading, type, under)
  const [own] = asked.readings.flatMap(({ value }) => value?.(scope, type) ?? [])
  if (own !== undefined) return own
  return type.element === null ? withForm(asked, type, scalarValue(scope, type)) : listValue(reading, type.element)
}

function withForm(asked: ValueAdditions, type: AnnotatedType, value: ValueFacts | null): ValueFacts | null {
  const form = formOfType(asked.forms, type)
  if (value?.type.kind !== 'scalar' || form === undefined) return value
  return { ...value, type: { ...value.type, form }, filter: true }
}

/** Visible to roles with USAGE on the domain's schema and that of the base type, to which operands are cast. */
function valueUnder(reading: Reading, type: AnnotatedType, base: AnnotatedType): ValueFacts | null {
  const value = readValue(reading, base.oid)
  if (value === null) return null
  const { typeSchema: under, ...rest } = value
  const own = typeSchema(type)
  return { ...rest, typeSchema: own, ...(under !== null && under !== own && { underSchema: under }) }
}

export const typeSchema = ({ schema }: AnnotatedType): string | null => (schema === 'pg_catalog' ? null : schema)

/** For values that are only read and compared for equality. */
export const withoutOrder = { order: false, limited: false, alike: false, aggregate: opaqueType.aggregate } as const

function scalarValue(scope: ValueScope, type: AnnotatedType): ValueFacts | null {
  if (type.kind === 'c' || type.kind === 'p') return null
  if (type.kind === 'd') {
    const base = domainBase(scope, type)
    return base?.element === null ? baseValue(type, opaqueType, base.order !== null) : null
  }
  const item = type.kind === 'e' ? scope.enums.get(objectId(type.schema, type.name)) : undefined
  return item === undefined ? baseValue(type, pgType(type), type.order !== null) : enumValue(type, item)
}

const baseValue = (type: AnnotatedType, row: PgType, ordered: boolean): ValueFacts => ({
  type: { kind: 'scalar', name: row.scalar, list: false },
  typeSchema: typeSchema(type),
  json: { kind: row.json },
  filter: hasFilter(row.scalar),
  order: row.orderable && ordered,
  limited: row.limited,
  alike: row.alike,
  aggregate: row.aggregate,
})

const enumValue = (type: AnnotatedType, { facts, mappings }: ServedEnum): ValueFacts => ({
  ...withoutOrder,
  type: { kind: 'enum', id: facts.id, list: false },
  typeSchema: typeSchema(type),
  // For a type that is not built in, Postgres would look up a cast to json for each value.
  json: mappings.length > 0 ? { kind: 'mapped', names: mappings } : { kind: 'text' },
  filter: true,
  order: true,
  alike: true,
})

/**
 * Arrays have neither order nor aggregates. Those of enums print raw labels, mapped or not (spec/graphql.md 3.2), and
 * have no filter.
 */
function listValue(reading: Reading, elementOid: Oid): ValueFacts | null {
  const type = reading.scope.types.get(elementOid)
  if (type === undefined || type.element !== null || type.kind === 'c' || type.kind === 'p') return null
  const element = elementValue(reading, type)
  if (element === null || element.type.kind === 'composite') return null
  return {
    ...element,
    ...withoutOrder,
    type: listType(reading.asked, element.type),
    json: element.type.kind === 'enum' ? { kind: 'native' } : listForm(element.json),
    filter: element.type.kind === 'scalar' && scalarTable[element.type.name].lists,
    ...Object.assign({}, ...reading.asked.readings.map(({ list }) => list?.(element))),
  }
}

/** The filter of single values does not apply to their lists. */
function listType({ forms }: ValueAdditions, element: ValueFacts['type']): ValueFacts['type'] {
  if (element.kind !== 'scalar') return { ...element, list: true } as ValueFacts['type']
  const { kind, name } = element
  const form = scalarTable[name].lists ? forms.find(({ lists }) => lists === true) : undefined
  return { kind, name, list: true, ...(form && { form: form.name }) }
}

/** A list of lists has the type Opaque. */
function elementValue(reading: Reading, type: AnnotatedType): ValueFacts | null {
  if (type.kind !== 'd') return scalarValue(reading.scope, type)
  const under = typeUnder(reading.scope, type, reading.asked)
  const value = under === undefined ? null : valueUnder(reading, type, under)
  return value === null || value.type.list ? baseValue(type, opaqueType, false) : value
}

const listForm = (element: JsonForm): JsonForm =>
  element.kind === 'text' || element.kind === 'json-text' ? { kind: 'text-array' } : { kind: 'native' }

/** The table's row: base types of pg_catalog by name, those of extensions by name in any schema. */
function pgType(type: AnnotatedType): PgType {
  if (type.kind !== 'b') return opaqueType
  return (type.schema === 'pg_catalog' ? pgTypes : extensionTypes).get(type.name) ?? opaqueType
}

export function domainBase(scope: ModelScope, type: AnnotatedType): AnnotatedType | undefined {
  const base = type.base === null ? undefined : scope.types.get(type.base)
  return base?.kind === 'd' ? domainBase(scope, base) : base
}

/** The modifier that a domain gives its base type, -1 without one. */
function domainModifier(scope: ModelScope, oid: Oid): number {
  const type = scope.types.get(oid)
  const base = type?.base == null ? undefined : scope.types.get(type.base)
  return base?.kind === 'd' ? domainModifier(scope, base.oid) : (type?.modifier ?? -1)
}

/**
 * A plain type (spec/graphql.md 9.1): neither enum nor composite nor pseudo-type. Domains count as plain over anything
 * but enums and arrays; arrays do not count themselves.
 */
function isPlainType(scope: ModelScope, type: AnnotatedType): boolean {
  const bottom = type.kind === 'd' ? domainBase(scope, type) : type
  if (bottom === undefined || bottom.element !== null) return false
  if (type.kind === 'd') return bottom.kind !== 'e'
  return bottom.kind === 'b' || bottom.kind === 'r' || bottom.kind === 'm'
}

const typeUnder = (
  scope: ModelScope,
  type: AnnotatedType,
  { readings }: Pick<ValueAdditions, 'readings'>,
): AnnotatedType | undefined => readings.map(({ under }) => under?.(scope, type)).find((base) => base !== undefined)

export function lookThrough(
  scope: ModelScope,
  oid: Oid,
  asked: Pick<ValueAdditions, 'readings'>,
): AnnotatedType | undefined {
  const type = scope.types.get(oid)
  return type && (typeUnder(scope, type, asked) ?? type)
}

export function baseType(scope: ModelScope, oid: Oid): AnnotatedType | undefined {
  const type = scope.types.get(oid)
  return type?.kind === 'd' ? domainBase(scope, type) : type
}

const isEnum = (scope: ModelScope, type: AnnotatedType): boolean =>
  (type.kind === 'd' ? domainBase(scope, type) : type)?.kind === 'e'

/**
 * A plain type or an array of plain types: the arguments of functions, and their results at the root (spec/graphql.md
 * 9.1.4, 9.1.5).
 */
export function isPlainOrList(scope: ModelScope, oid: Oid, asked: ValueAdditions): boolean {
  const type = lookThrough(scope, oid, asked)
  const element = type?.element == null ? type : scope.types.get(type.element)
  if (element === undefined) return false
  return isPlainType(scope, element) || (servesShapes(asked) && isEnum(scope, element))
}

/**
 * Whether the type is an array, whether its literals separate values by a comma (a box uses a semicolon), and how
 * GeoJSON is read if it is served as that. The modifier is that of the column, -1 if absent; a domain has its own.
 */
export function sqlType(scope: ModelScope, oid: Oid, asked: ValueAdditions, modifier = -1): Omit<CastSql, 'type'> {
  const type = lookThrough(scope, oid, asked)
  const element = type?.element == null ? null : scope.types.get(type.element)
  const own = type?.oid === oid ? modifier : domainModifier(scope, oid)
  return {
    array: element !== null,
    plainDelimiter: (element ?? type)?.delimiter === ',',
    ...Object.assign({}, ...asked.readings.map(({ sql }) => type && sql?.(type, own))),
    ...((element ?? type)?.kind === 'c' && { composite: true }),
  }
}

/**
 * The cast of a column's operands: its type without a modifier if it is one of pg_catalog, because a cast would
 * truncate or round: a comparison concerns the value that was sent, and an assignment checks the modifier (manual 8.1
 * to 8.3, 8.5, 8.10). A list of a domain is cast to a list of its base type, if that has a modifier. With `domains` a
 * value is compared as the domain's base type; its checks are for writes.
 */
export function castText(
  scope: ModelScope,
  { type, typeText }: { readonly type: Oid; readonly typeText: string },
  asked: ValueAdditions,
): string {
  const under = lookThrough(scope, type, asked)
  const read = readAs(scope, type, asked)
  if (read !== null) return read
  if (under !== undefined && under.oid !== type) return under.text
  const element = scope.types.get(type)?.element ?? null
  const named = scope.types.get(element ?? type)
  const bottom = named?.kind === 'd' ? domainBase(scope, named) : named
  if (bottom?.schema !== 'pg_catalog' || (named?.kind === 'd' && domainModifier(scope, named.oid) < 0)) return typeText
  return element === null ? bottom.text : `${bottom.text}[]`
}

/**
 * The type a value is read as, if operators do not accept its own together with operands of the base type; null if they
 * do. Operators of enums take no domains (PostgreSQL manual 8.7, 38.2.5), and those of arrays need one type on both
 * sides: a cast of operands to an array of a domain would apply its checks.
 */
export function readAs(scope: ModelScope, oid: Oid, asked: ValueAdditions): string | null {
  const under = lookThrough(scope, oid, asked)
  if (under?.kind === 'e') return under.oid === oid ? null : under.text
  const element = under?.element == null ? undefined : scope.types.get(under.element)
  const bottom = element && typeUnder(scope, element, asked)
  return bottom === undefined || bottom.element !== null ? null : `${bottom.text}[]`
}

const symbols = ['<', '<=', '=', '>=', '>'] as const

/**
 * How a column's values are compared in orders and positions in them (spec/graphql.md 0, decision 20): ORDER BY uses
 * the default btree class of the type, whatever schema and names its operators have, while `<` is looked up on the
 * search path, which is that of the served schemas. The same holds for `like` and similar operators: not found there, a
 * citext would be matched as a text.
 */
export function orderSql(scope: ModelScope, oid: Oid): { readonly order?: OrderSql } {
  const type = scope.types.get(oid)
  const { order, patterns = [] } = (type?.kind === 'd' ? domainBase(scope, type) : type) ?? {}
  if (order == null || isFound(scope, order)) return {}
  const named = symbols.map((symbol, place) => [symbol, operatorText(order[place])] as const)
  const matching = patterns.map((operator) => [operator.name, operatorText(operator)] as const)
  return { order: Object.fromEntries([...named, ...matching]) as OrderSql }
}

const isFound = (scope: ModelScope, order: CatalogOrder): boolean =>
  order.every(({ schema, name }, place) => name === symbols[place] && scope.schemas.get(schema) !== undefined)

function operatorText(operator: CatalogOrder[number] | undefined): string {
  if (operator === undefined) throw new Error('a btree operator class lacks a strategy')
  return `operator(${ident(operator.schema)}.${operator.name})`
}
