import { formOf, objectId } from '../../runtime/contract/facts.ts'
import type { ColumnFacts, Diagnostic } from '../../runtime/contract/manifest.ts'
import { opaqueType } from '../../runtime/sql/pg-types.ts'
import { askedOf, type AskedAddition } from '../comments/additions.ts'
import type { AnnotatedColumn, AnnotatedRelation, AnnotatedType } from '../comments/annotated.ts'
import { diagnose, collectPresent, withDiagnostics, type WithDiagnostics } from '../catalog/diagnostics/diagnostics.ts'
import { nameColumn } from '../catalog/catalog.ts'
import { attributesOf } from './attributes.ts'
import type { NamedRelation } from './named-relations.ts'
import { columnField, isValidName } from './names.ts'
import { columnGrants } from './privileges.ts'
import {
  valueAdditions,
  typeFacts,
  type ValueAdditions,
  type ValueFacts,
  type Values,
  castText,
  readAs,
  sqlType,
  orderSql,
  lookThrough,
} from './scalars.ts'
import type { ModelScope } from './scope.ts'
import type { ColumnSql } from './model.ts'

/**
 * The columns of the manifest (spec/graphql.md 1.3), by attribute number: those with a field, and those without one
 * that the key or a relation needs (`needed`).
 *
 * @param asked of the relation, see additionsOfTable
 */
export function buildColumns(
  scope: ModelScope,
  values: Values,
  named: NamedRelation,
  needed: ReadonlySet<string>,
  asked: ValueAdditions,
  additions: readonly ColumnAddition[],
): WithDiagnostics<readonly ColumnFacts[]> {
  const required = requirementOf(scope, named)
  const { relation, schema } = named
  const added = askedOf(relation, schema, additions).flatMap((one) => one.columnFacts ?? [])
  return collectPresent(
    named.relation.columns.map((column) => {
      const own = columnFacts(named, column, values(column.type, asked), required)
      const facts = {
        ...own,
        ...Object.assign(
          {},
          ...added.map((factsOf) => factsOf(lookThrough(scope, column.type, asked), column, own, relation)),
        ),
      }
      const kept = isServed(facts) || needed.has(column.name)
      return withDiagnostics(kept ? facts : null, columnDiagnostics(named, column, facts))
    }),
  )
}

export interface ColumnAddition extends AskedAddition {
  /** Facts of a column of a relation that has it. `type`: the column's, with `domains` that under a domain. */
  readonly columnFacts?: (
    type: AnnotatedType | undefined,
    column: AnnotatedColumn,
    own: ColumnFacts,
    relation: AnnotatedRelation,
  ) => Partial<ColumnFacts>
}

export const additionsOfTable = ({ relation, schema }: NamedRelation): ValueAdditions =>
  valueAdditions(schema, relation)

const isServed = (facts: ColumnFacts): boolean => facts.field !== null && facts.type !== null

function columnFacts(
  named: NamedRelation,
  column: AnnotatedColumn,
  value: ValueFacts | null,
  required: Requirement,
): ColumnFacts {
  const name = fieldOfColumn(named, column)
  const field = name !== null && isValidName(name) ? name : null
  const served = field === null ? null : value
  const input =
    served !== null && served.type.kind !== 'composite' && !column.generated && !column.identity && !column.serial
  return {
    column: column.name,
    field,
    ...(value === null ? noType : typeFacts(value)),
    notNull: isNotNull(named, column),
    description: column.description,
    ...column.facts,
    maxLength: value?.limited === true ? maxLength(column) : null,
    filter: served?.filter ?? false,
    order: served?.order ?? false,
    aggregate: served?.aggregate ?? opaqueType.aggregate,
    input,
    ...(input && required(column) && { required: true as const }),
    grants: columnGrants(column),
  }
}

/** Whether an insert must name a column, because the database has no default for it. */
type Requirement = (column: AnnotatedColumn) => boolean

/** A trigger may set any column; for views and foreign tables the treatment of a row is unknown. */
const requirementOf = ({ types, filled }: ModelScope, { relation }: NamedRelation): Requirement => {
  const isTable = relation.kind === 'r' || relation.kind === 'p'
  if (!isTable || filled.get(relation.oid) === true) return () => false
  return ({ notNull, hasDefault, type }) => notNull && !hasDefault && types.get(type)?.hasDefault !== true
}

const noType = { type: null, typeSchema: null } as const

/** Columns of views are nullable, even if their source columns are not (spec/graphql.md 1.3). */
const isNotNull = ({ relation }: NamedRelation, column: AnnotatedColumn): boolean =>
  column.notNull && relation.kind !== 'v' && relation.kind !== 'm'

/** The modifier includes the four bytes of a length word; without a modifier there is no limit. */
const maxLength = ({ modifier }: AnnotatedColumn): number | null => (modifier < 4 ? null : modifier - 4)

function columnDiagnostics(named: NamedRelation, column: AnnotatedColumn, facts: ColumnFacts): readonly Diagnostic[] {
  const object = nameColumn(named.relation, column.name)
  if (facts.type === null) return [diagnose('column-unmapped', object, { type: column.typeText })]
  const name = columnField(column.settings.name, column.name, named.schema.inflects)
  if (name === nodeIdField)
    return [
      nodeIdDiagnostic(
        object,
        facts.field === null ? 'it has no field' : `its field is ${JSON.stringify(facts.field)}`,
      ),
    ]
  if (facts.field === null) return [diagnose('name-unusable', object, { name, what: 'it has no field' })]
  const form = named.schema.forms.get(formOf(facts.type) ?? '')
  return form === undefined || !named.relation.rowSecurity
    ? []
    : [diagnose('filter-behind-policies', object, { keys: form.keys })]
}

/** The facts for builders about every live column, served or not. */
export function buildColumnSql(
  scope: ModelScope,
  values: Values,
  named: NamedRelation,
  asked: ValueAdditions,
): readonly ColumnSql[] {
  return named.relation.columns.map((column) => {
    const value = values(column.type, asked)
    const read = readAs(scope, column.type, asked)
    const texts = sqlType(scope, column.type, asked, column.modifier)
    return {
      column: column.name,
      type: castText(scope, column, asked),
      ...texts,
      json: value?.json ?? { kind: 'native' },
      alike: value?.alike ?? false,
      notNull: isNotNull(named, column),
      ...(column.collation !== undefined && { collation: column.collation }),
      // Values served as GeoJSON have no order.
      ...(texts.geo === undefined && orderSql(scope, column.type)),
      ...(read !== null && { readAs: read }),
      ...attributesOf(scope, values, column.type, asked),
    }
  })
}

/**
 * The field of the node id: `Node.nodeId` is this field even if a column has its name (spec/graphql.md, decision 15).
 */
export const nodeIdField = 'nodeId'

/**
 * The name of a column's field, valid or not; null if it would be that of the node id and the spelling of the database
 * does not help: the same name, an invalid one, or that of another column's field.
 */
function fieldOfColumn({ relation, schema }: Pick<NamedRelation, 'relation' | 'schema'>, column: Named): string | null {
  const wanted = (one: Named): string => columnField(one.settings.name, one.name, schema.inflects)
  const name = wanted(column)
  if (name !== nodeIdField) return name
  const isFree = column.name !== nodeIdField && relation.columns.every((other) => wanted(other) !== column.name)
  return isFree && isValidName(column.name) ? column.name : null
}

type Named = NamedRelation['relation']['columns'][number]

/** @param instead the consequence for the object, as a clause */
export const nodeIdDiagnostic = (object: string, instead: string): Diagnostic =>
  diagnose('node-id-kept', object, { instead })

/** Types of pg_catalog whose values Postgres compares with each other without loss. */
const families: Readonly<Record<string, string>> = {
  int2: 'number',
  int4: 'number',
  int8: 'number',
  numeric: 'number',
  float4: 'float',
  float8: 'float',
  text: 'text',
  varchar: 'text',
}

/** Types whose values Postgres compares without loss have one family. */
export const familyOf = ({ schema, name }: { readonly schema: string; readonly name: string }): string =>
  schema === 'pg_catalog' ? (families[name] ?? name) : objectId(schema, name)

export const collated = (text: string, collation: string | undefined): string =>
  collation === undefined ? text : `${text} collate ${collation}`
