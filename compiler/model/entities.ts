import type { Lookup, Memo } from '../../runtime/lib/memo.ts'
import type { ColumnFacts, EntityFacts, RelationFacts } from '../../runtime/contract/manifest.ts'
import type { AnnotatedFunction } from '../comments/types.ts'
import { relationWord } from '../report/object-name.ts'
import { gatherPresent, noted, type Noted } from '../report/noted.ts'
import { buildColumns, buildColumnSql } from './columns.ts'
import { buildComputed, type Computed } from './computed.ts'
import type { Head } from './heads.ts'
import { unlinked, type Sides } from './links.ts'
import { tableGrants } from './privileges.ts'
import { buildRelations } from './relations.ts'
import { resultContext, type FunctionScope } from './results.ts'
import { isIdentified } from './rules/one-to-one.ts'
import { readValues, type ValueScope } from './scalars.ts'
import { tableAdditions } from './table-additions.ts'
import { buildArbiters, type Arbiters } from './upsert.ts'
import type { ColumnSql, EntitySql } from './types.ts'

/** A relation as the API has it, and what its builder is written from. */
export interface Entity {
  readonly facts: EntityFacts
  readonly sql: EntitySql
}

/** What a relation is put together from, besides itself. */
export interface EntityScope extends FunctionScope {
  readonly sides: Lookup<Sides>
  /** Functions that take a row of the relation. */
  readonly rowFunctions: Lookup<readonly AnnotatedFunction[]>
}

const noFunctions: readonly AnnotatedFunction[] = []

/** All relations, put together. */
export const buildEntities = (memo: Memo, heads: readonly Head[], scope: EntityScope): Noted<readonly Entity[]> =>
  gatherPresent(memo.each(buildEntity, heads, memo, scope))

/**
 * Puts a relation together: columns, relations, computed fields, settings and privileges (spec/graphql.md 1.2 to 1.4).
 * Parts that say the same as before stay the same, so that a changed neighbour need not change the entity.
 */
function buildEntity(head: Head, memo: Memo, scope: EntityScope): Noted<Entity> {
  const sides = scope.sides.get(head.id) ?? unlinked
  const arbiters = memo.of(buildArbiters, head)
  const columns = memo.of(readColumns, head, scope, ...neededColumns(head, sides, arbiters))
  const relations = memo.same(buildRelations, head, sides)
  const computed = memo.same(computedOf, head, scope.rowFunctions.get(head.id) ?? noFunctions, scope)
  const sql = memo.of(entitySql, head, columns, computed, arbiters)
  return memo.of(assemble, head, columns, relations, computed, arbiters, sql)
}

const computedOf = (
  _: Head,
  functions: readonly AnnotatedFunction[],
  scope: FunctionScope,
): Noted<readonly Computed[]> => buildComputed(resultContext(scope), functions)

interface Columns {
  readonly facts: Noted<readonly ColumnFacts[]>
  readonly sql: readonly ColumnSql[]
}

function readColumns(head: Head, scope: ValueScope, ...needed: readonly string[]): Columns {
  const values = readValues(scope)
  return { facts: buildColumns(values, head, new Set(needed)), sql: buildColumnSql(scope, values, head) }
}

function assemble(
  head: Head,
  columns: Columns,
  relations: Noted<readonly RelationFacts[]>,
  computed: Noted<readonly Computed[]>,
  arbiters: Noted<Arbiters> | null,
  sql: EntitySql,
): Noted<Entity> {
  const fields = {
    columns: columns.facts.value,
    relations: relations.value,
    computed: computed.value.map((item) => item.facts),
    ...(arbiters && { uniqueKeys: arbiters.value.facts }),
  }
  return noted({ facts: { ...headFacts(head), ...fields }, sql }, [
    ...columns.facts.diagnostics,
    ...relations.diagnostics,
    ...computed.diagnostics,
    ...(arbiters?.diagnostics ?? []),
  ])
}

/** No name of the API is in it: a neighbour that is called otherwise leaves the builder as it was. */
const entitySql = (
  head: Head,
  columns: Columns,
  computed: Noted<readonly Computed[]>,
  arbiters: Noted<Arbiters> | null,
): EntitySql => ({
  id: head.id,
  schema: head.relation.schema,
  relation: head.relation.name,
  columns: columns.sql,
  key: head.key,
  computed: computed.value.map((item) => item.sql),
  ...(arbiters && { arbiters: arbiters.value.sql }),
})

/**
 * Columns whose privileges decide about something even where they have no field: the key's, those of foreign keys, and
 * those of keys that may be named.
 */
const neededColumns = (
  head: Head,
  { forward, reverse }: Sides,
  arbiters: Noted<Arbiters> | null,
): ReadonlySet<string> =>
  new Set([
    ...head.key,
    ...forward.flatMap((link) => link.columns),
    ...reverse.flatMap((link) => link.foreignColumns),
    ...(arbiters?.value.facts.flatMap((key) => key.columns) ?? []),
  ])

type HeadFacts = Omit<EntityFacts, 'columns' | 'relations' | 'computed' | 'uniqueKeys'>

const headFacts = ({ id, relation, schema, name, key }: Head): HeadFacts => ({
  id,
  schema: relation.schema,
  relation: relation.name,
  kind: relationWord(relation.kind),
  name,
  description: relation.description,
  // The table's setting goes before that of its schema (spec/graphql.md 5.3).
  maxRows: relation.settings.max_rows ?? schema.maxRows,
  totalCount: relation.settings.totalCount,
  aggregate: relation.settings.aggregate,
  root: relation.settings.root,
  ...tableAdditions(relation, schema),
  key,
  unique: isIdentified(relation, key),
  grants: tableGrants(relation),
})
