import { StructureKind, type InterfaceDeclarationStructure } from 'ts-morph'
import { qualified } from '../../runtime/sql/ident.ts'
import type { EntityFacts, EnumFacts, Manifest, ObjectId, ValueType } from '../../runtime/contract/manifest.ts'
import type { ScalarName } from '../../runtime/contract/scalar-names.ts'
import type { CallSql, EntitySql, JsonForm } from '../model/types.ts'
import { commentText, jsString } from './js-text.ts'
import type { Print } from './printer.ts'

/** TypeScript declarations beside the generated modules: rows as they print in JSON, and the builders' own types. */

/** What of the builders only some revisions have. */
export interface Extras {
  /** Some relation has unique keys that `onConflict` can name. */
  readonly arbiters: boolean
  /** Some computed field takes arguments or has filters. */
  readonly computed: boolean
  /** Composite values are looked into. */
  readonly composites: boolean
  /** Places are compared. */
  readonly geo: boolean
  /** Some values are ordered by other operators than those of pg_catalog. */
  readonly order: boolean
  /** Some columns have a collation of their own. */
  readonly collation: boolean
}

export const builderTypes = ({
  arbiters,
  computed,
  composites,
  geo,
  order,
  collation,
}: Extras): string => `/** Types of the generated SQL builders: functions from SQL text to SQL text. */

export type Expression = string

export interface ColumnBuilder {
  readonly of: (row: Expression) => Expression
  readonly json: (value: Expression) => Expression
  readonly cursor: (value: Expression) => Expression
  readonly operand: (parameter: Expression) => Expression
  readonly operands: (parameter: Expression) => Expression
  readonly notNull: boolean
${collation ? collationMember : ''}  readonly recordType: string
  readonly fromRecord: (value: Expression) => Expression
${composites ? attributesMember : ''}${geo ? spatialMember : ''}${order ? orderMember : ''}}
${composites ? attributeTypes(geo) : ''}
export interface ComputedBuilder {
  readonly of: (row: Expression${computed ? ', args: readonly Expression[]' : ''}) => Expression
  readonly json: (value: Expression) => Expression
${computed ? computedTypes : ''}${composites ? attributesMember : ''}${computed && geo ? spatialMember : ''}}

export interface EntityBuilder<Column extends string, Computed extends string> {
  readonly relation: string
  readonly columns: Readonly<Record<Column, ColumnBuilder>>
  readonly nodeId: (key: readonly Expression[]) => Expression
  readonly computed: Readonly<Record<Computed, ComputedBuilder>>
${arbiters ? arbiterTypes : ''}}

export interface CallBuilder<Argument extends string> {
  readonly name: string
  readonly args: Readonly<Record<Argument, (parameter: Expression) => Expression>>
  readonly json: (value: Expression) => Expression
${composites ? attributesMember : ''}}
`

const attributesMember = `  readonly attributes?: Readonly<Record<string, AttributeBuilder>>
`

const spatialMember = `  readonly spatial?: Readonly<Record<string, Expression>>
`

const collationMember = '  readonly collation?: string\n'

const orderMember = `  readonly order?: Readonly<Record<'<' | '<=' | '=' | '>=' | '>', Expression>> &
    Readonly<Partial<Record<'~~' | '~~*' | '~' | '~*', Expression>>>
`

const attributeTypes = (geo: boolean): string => `
export interface AttributeBuilder {
  readonly of: (value: Expression) => Expression
  readonly json: (value: Expression) => Expression
  readonly operand: (parameter: Expression) => Expression
  readonly operands: (parameter: Expression) => Expression
${attributesMember}${geo ? spatialMember : ''}}
`

const computedTypes = `  readonly args?: Readonly<Record<string, (parameter: Expression) => Expression>>
  readonly operand?: (parameter: Expression) => Expression
  readonly operands?: (parameter: Expression) => Expression
`

const arbiterTypes = `  readonly arbiters?: Readonly<Record<string, Expression>>
`

type Enums = ReadonlyMap<ObjectId, EnumFacts>

/** Makes the declarations of each relation of a manifest. */
export function createEntityTypes(manifest: Manifest, print: Print): (entity: EntitySql) => string {
  const enums = new Map(manifest.enums.map((item) => [item.id, item]))
  const facts = new Map(manifest.entities.map((item) => [item.id, item]))
  return (entity) => entityTypes(entity, facts.get(entity.id), enums, print)
}

/**
 * What a value of a scalar is in JSON (spec/graphql.md 3.1): numbers beyond a double travel as text, floats may be NaN.
 */
const scalarTypes: Readonly<Record<ScalarName, string>> = {
  ID: 'string',
  Int: 'number',
  Float: 'number | string',
  String: 'string',
  Boolean: 'boolean',
  Date: 'string',
  Time: 'string',
  Datetime: 'string',
  BigInt: 'string',
  UUID: 'string',
  JSON: 'string',
  Cursor: 'string',
  BigFloat: 'string',
  Opaque: 'unknown',
  GeoJSON: '{ readonly type: string; readonly [member: string]: unknown }',
}

function typeText(type: ValueType | null, json: JsonForm, enums: Enums): string {
  if (type === null || type.kind === 'composite') return 'unknown'
  const single =
    type.kind === 'scalar'
      ? scalarTypes[type.name]
      : enumText(enums.get(type.id), type.list && json.kind !== 'mapped-array')
  return type.list ? `readonly (${single === 'unknown' ? single : `${single} | null`})[]` : single
}

/**
 * Labels that give no GraphQL name print as they are, and only the database knows them: hence any string beside the
 * names.
 */
function enumText(facts: EnumFacts | undefined, raw: boolean): string {
  const names = facts?.values.map(({ label, name }) => jsString(raw ? label : name)) ?? []
  return [...names, '(string & {})'].join(' | ')
}

/** `Post` -> `PostRow`; a relation without a usable name is just a row. */
const rowName = (name: string): string => (/^[A-Za-z_][A-Za-z0-9_]*$/.test(name) ? `${name}Row` : 'Row')

function entityTypes(entity: EntitySql, facts: EntityFacts | undefined, enums: Enums, print: Print): string {
  const relation = commentText(qualified(entity.schema, entity.relation))
  return print('entity.d.cts', [
    `import type { EntityBuilder } from '../builder.cjs'\n`,
    {
      kind: StructureKind.Module,
      name: 'entity',
      hasDeclareKeyword: true,
      statements: [rowInterface(entity, facts, enums)],
    },
    `/** SQL builders of ${relation}. */
declare const entity: EntityBuilder<
  ${union(entity.columns.map(({ column }) => column))},
  ${union(entity.computed.map(({ id }) => id))}
>`,
    'export = entity',
  ])
}

/** The row's columns in order; NOT NULL of the catalogue decides about null. */
function rowInterface(entity: EntitySql, facts: EntityFacts | undefined, enums: Enums): InterfaceDeclarationStructure {
  const types = new Map(facts?.columns.map(({ column, type }) => [column, type]))
  return {
    kind: StructureKind.Interface,
    name: rowName(facts?.name ?? ''),
    isExported: true,
    docs: [
      `A row of ${commentText(qualified(entity.schema, entity.relation))} as it prints in JSON, by SQL column name.`,
    ],
    properties: entity.columns.map(({ column, notNull, json }) => ({
      name: jsString(column),
      type: nullable(typeText(types.get(column) ?? null, json, enums), notNull),
      isReadonly: true,
    })),
  }
}

const nullable = (type: string, notNull: boolean): string => (notNull || type === 'unknown' ? type : `${type} | null`)

export function callTypes(calls: readonly CallSql[], print: Print): string {
  const members = calls.map(
    (call) => `  readonly ${jsString(call.id)}: CallBuilder<${union(call.args.map(({ field }) => field))}>`,
  )
  return print('functions.d.cts', [
    `import type { CallBuilder } from './builder.cjs'`,
    ['/** SQL builders of root functions. */', 'declare const functions: {', ...members, '}'].join('\n'),
    'export = functions',
  ])
}

const union = (names: readonly string[]): string => (names.length === 0 ? 'never' : names.map(jsString).join(' | '))
