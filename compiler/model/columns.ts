import type { ColumnFacts } from '../../runtime/contract/manifest.ts'
import { opaqueType } from '../../runtime/sql/pg-types.ts'
import type { AnnotatedColumn } from '../comments/types.ts'
import type { Diagnostic } from '../report/diagnostic.ts'
import { diagnose } from '../report/diagnostics.ts'
import { gatherPresent, noted, type Noted } from '../report/noted.ts'
import { nameColumn } from '../report/object-name.ts'
import { attributesOf } from './composites.ts'
import type { Head } from './heads.ts'
import { columnField, isValidName } from './names.ts'
import { fieldOfColumn, nodeIdField, tellNodeId } from './node-id.ts'
import { columnGrants } from './privileges.ts'
import { typeFacts, type Asked, type ValueFacts, type Values } from './scalars.ts'
import type { ModelScope } from './scope.ts'
import { castText, readAs, sqlType } from './sql-types.ts'
import { orderSql } from './orders.ts'
import { tableAdditions } from './table-additions.ts'
import type { ColumnSql } from './types.ts'

/**
 * The columns of the manifest (spec/graphql.md 1.3), by attribute number: those with a field, and those without one
 * that the key or a relation needs (`needed`).
 */
export function buildColumns(values: Values, head: Head, needed: ReadonlySet<string>): Noted<readonly ColumnFacts[]> {
  const asked = askedOf(head)
  return gatherPresent(
    head.relation.columns.map((column) => {
      const facts = columnFacts(head, column, values(column.type, asked))
      const kept = isServed(facts) || needed.has(column.name)
      return noted(kept ? facts : null, tellColumn(head, column, facts))
    }),
  )
}

/** What a relation's own comment, or its schema's, says of its values. */
const askedOf = ({ relation, schema }: Head): Asked => ({
  enumArrays: tableAdditions(relation, schema).enumArrays === true,
  domains: schema.settings.domains,
  functionShapes: schema.settings.functionShapes,
  composites: schema.settings.composites,
  geo: schema.settings.geo,
})

const isServed = (facts: ColumnFacts): boolean => facts.field !== null && facts.type !== null

function columnFacts(head: Head, column: AnnotatedColumn, value: ValueFacts | null): ColumnFacts {
  const name = fieldOfColumn(head, column)
  const field = name !== null && isValidName(name) ? name : null
  const served = field === null ? null : value
  return {
    column: column.name,
    field,
    ...(value === null ? noType : typeFacts(value)),
    notNull: isNotNull(head, column),
    description: column.description,
    maxLength: value?.limited === true ? maxLength(column) : null,
    filter: served?.filter ?? false,
    order: served?.order ?? false,
    aggregate: served?.aggregate ?? opaqueType.aggregate,
    input:
      served !== null && served.type.kind !== 'composite' && !column.generated && !column.identity && !column.serial,
    grants: columnGrants(column),
  }
}

const noType = { type: null, typeSchema: null } as const

/** Columns of views are nullable, whatever lies under them (spec/graphql.md 1.3). */
const isNotNull = ({ relation }: Head, column: AnnotatedColumn): boolean =>
  column.notNull && relation.kind !== 'v' && relation.kind !== 'm'

/** The modifier counts the four bytes of a length word; without a modifier there is no limit. */
const maxLength = ({ modifier }: AnnotatedColumn): number | null => (modifier < 4 ? null : modifier - 4)

function tellColumn(head: Head, column: AnnotatedColumn, facts: ColumnFacts): readonly Diagnostic[] {
  const object = nameColumn(head.relation, column.name)
  if (facts.type === null) return [diagnose('column-unmapped', object, { type: column.typeText })]
  const name = columnField(column.settings.name, column.name, head.schema.inflects)
  if (name === nodeIdField)
    return [
      tellNodeId(object, facts.field === null ? 'it has no field' : `its field is ${JSON.stringify(facts.field)}`),
    ]
  if (facts.field !== null) return []
  return [diagnose('name-unusable', object, { name, what: 'it has no field' })]
}

/** What the builders need of every live column, served or not. */
export function buildColumnSql(scope: ModelScope, values: Values, head: Head): readonly ColumnSql[] {
  const asked = askedOf(head)
  return head.relation.columns.map((column) => {
    const value = values(column.type, asked)
    const read = readAs(scope, column.type, asked)
    const texts = sqlType(scope, column.type, asked, column.modifier)
    return {
      column: column.name,
      type: castText(scope, column, asked),
      ...texts,
      json: value?.json ?? { kind: 'native' },
      alike: value?.alike ?? false,
      notNull: isNotNull(head, column),
      // What is served as GeoJSON has no order.
      ...(texts.geo === undefined && orderSql(scope, column.type)),
      ...(read !== null && { readAs: read }),
      ...attributesOf(scope, values, column.type, asked),
    }
  })
}
