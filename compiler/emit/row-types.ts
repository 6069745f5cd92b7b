import {
  StructureKind,
  VariableDeclarationKind,
  Writers,
  type ImportDeclarationStructure,
  type InterfaceDeclarationStructure,
  type WriterFunction,
} from 'ts-morph'
import { qualified } from '../../runtime/sql/ident.ts'
import type { EntityFacts, EnumFacts, Manifest, ObjectId, ValueType } from '../../runtime/contract/manifest.ts'
import type { ScalarName } from '../../runtime/contract/scalar-names.ts'
import type { CallSql, EntitySql, JsonForm } from '../model/model.ts'
import { commentText, jsString } from './js-text.ts'
import type { Print, PrintedStatements } from './printer.ts'

/** TypeScript declarations beside the generated modules: rows as they print in JSON, and the builders' own types. */

/** The declarations that all others of a revision import. */
export const builderTypes = (print: Print): string =>
  print('builder.d.cts', [
    '/** Types of the generated SQL builders: functions from SQL text to SQL text. */',
    { kind: StructureKind.TypeAlias, name: 'Expression', isExported: true, type: 'string' },
    builder('ColumnBuilder', [], {
      ...{ of: from('row'), cursor: from('value'), ...value, ...operands },
      ...{ notNull: 'boolean', 'collation?': 'string', recordType: 'string', fromRecord: from('value') },
      'order?': `${record("'<' | '<=' | '=' | '>=' | '>'")} & Partial<${record("'~~' | '~~*' | '~' | '~*'")}>`,
    }),
    builder('AttributeBuilder', [], { of: from('value'), ...value, ...operands }),
    builder('ComputedBuilder', [], {
      of: '(row: Expression, args?: readonly Expression[]) => Expression',
      ...value,
      'args?': `Readonly<Record<string, ${from('parameter')}>>`,
      ...{ 'operand?': from('parameter'), 'operands?': from('parameter') },
    }),
    builder('EntityBuilder', ['Column', 'Computed'], {
      relation: 'string',
      columns: 'Readonly<Record<Column, ColumnBuilder>>',
      nodeId: '(key: readonly Expression[]) => Expression',
      computed: 'Readonly<Record<Computed, ComputedBuilder>>',
      'arbiters?': texts,
    }),
    builder('CallBuilder', ['Argument'], {
      name: 'string',
      args: `Readonly<Record<Argument, ${from('parameter')}>>`,
      ...value,
    }),
  ])

/** A function from the SQL of one expression to that of another. */
const from = (parameter: string): string => `(${parameter}: Expression) => Expression`

const record = (keys: string): string => `Readonly<Record<${keys}, Expression>>`

const texts = record('string')

/** The functions of a value, with attributes if it is composite and spatial ones if it is a geometry. */
const value = { json: from('value'), 'attributes?': 'Readonly<Record<string, AttributeBuilder>>', 'spatial?': texts }

const operands = { operand: from('parameter'), operands: from('parameter') }

/** @param members their types, by names that end in a question mark if they are optional */
const builder = (
  name: string,
  parameters: readonly string[],
  members: Readonly<Record<string, string>>,
): InterfaceDeclarationStructure => ({
  kind: StructureKind.Interface,
  name,
  isExported: true,
  typeParameters: parameters.map((of) => ({ name: of, constraint: 'string' })),
  properties: Object.entries(members).map(([of, type]) => ({
    name: of.replace('?', ''),
    type,
    isReadonly: true,
    hasQuestionToken: of.endsWith('?'),
  })),
})

type Enums = ReadonlyMap<ObjectId, EnumFacts>

/** Makes the declarations of each relation of a manifest. */
export function createEntityTypes(manifest: Manifest, print: Print): (entity: EntitySql) => string {
  const enums = new Map(manifest.enums.map((item) => [item.id, item]))
  const facts = new Map(manifest.entities.map((item) => [item.id, item]))
  return (entity) => {
    const names = [entity.columns.map(({ column }) => column), entity.computed.map(({ id }) => id)].map(union)
    const row = rowInterface(entity, facts.get(entity.id), enums)
    return print('entity.d.cts', [
      imported('EntityBuilder', '../builder.cjs'),
      { kind: StructureKind.Module, name: 'entity', hasDeclareKeyword: true, statements: [row] },
      ...exported('entity', `SQL builders of ${relationText(entity)}.`, `EntityBuilder<${names.join(', ')}>`),
    ])
  }
}

/** The JSON type of a scalar's value (spec/graphql.md 3.1): numbers beyond a double are texts, floats may be NaN. */
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
 * Labels without a GraphQL name print unchanged, and only the database knows them: hence any string beside the names.
 */
function enumText(facts: EnumFacts | undefined, raw: boolean): string {
  const names = facts?.values.map(({ label, name }) => jsString(raw ? label : name)) ?? []
  return [...names, '(string & {})'].join(' | ')
}

/** `Post` -> `PostRow`; for a relation without a usable name `Row`. */
const rowName = (name: string): string => (/^[A-Za-z_][A-Za-z0-9_]*$/.test(name) ? `${name}Row` : 'Row')

const relationText = ({ schema, relation }: EntitySql): string => commentText(qualified(schema, relation))

const imported = (name: string, moduleSpecifier: string): ImportDeclarationStructure => ({
  kind: StructureKind.ImportDeclaration,
  isTypeOnly: true,
  namedImports: [name],
  moduleSpecifier,
})

/** The module's export. */
const exported = (name: string, help: string, type: string | WriterFunction): PrintedStatements => [
  {
    kind: StructureKind.VariableStatement,
    hasDeclareKeyword: true,
    declarationKind: VariableDeclarationKind.Const,
    declarations: [{ name, type }],
    docs: [help],
  },
  { kind: StructureKind.ExportAssignment, isExportEquals: true, expression: name },
]

/** The row's columns in order; nullable unless the catalogue has NOT NULL. */
function rowInterface(entity: EntitySql, facts: EntityFacts | undefined, enums: Enums): InterfaceDeclarationStructure {
  const types = new Map(facts?.columns.map(({ column, type }) => [column, type]))
  return {
    kind: StructureKind.Interface,
    name: rowName(facts?.name ?? ''),
    isExported: true,
    docs: [`A row of ${relationText(entity)} as it prints in JSON, by SQL column name.`],
    properties: entity.columns.map(({ column, notNull, json }) => ({
      name: jsString(column),
      type: nullable(typeText(types.get(column) ?? null, json, enums), notNull),
      isReadonly: true,
    })),
  }
}

const nullable = (type: string, notNull: boolean): string => (notNull || type === 'unknown' ? type : `${type} | null`)

export const callTypes = (calls: readonly CallSql[], print: Print): string => {
  const properties = calls.map(({ id, args }) => ({
    name: jsString(id),
    type: `CallBuilder<${union(args.map(({ field }) => field))}>`,
    isReadonly: true,
  }))
  return print('functions.d.cts', [
    imported('CallBuilder', './builder.cjs'),
    ...exported('functions', 'SQL builders of root functions.', Writers.objectType({ properties })),
  ])
}

const union = (names: readonly string[]): string => (names.length === 0 ? 'never' : names.map(jsString).join(' | '))
