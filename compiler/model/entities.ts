import type { Memo } from '../../runtime/lib/memo/memo.ts'
import type { Steps } from '../../runtime/lib/steps.ts'
import type { Lookup } from '../../runtime/lib/memo/tables.ts'
import type { ColumnFacts, EntityFacts, RelationFacts } from '../../runtime/contract/manifest.ts'
import { askedOf } from '../comments/additions.ts'
import type { AnnotatedFunction, AnnotatedRelation } from '../comments/annotated.ts'
import { relationWord, isIdentified } from '../catalog/catalog.ts'
import {
  collectFollowed,
  collectPresent,
  withDiagnostics,
  type WithDiagnostics,
} from '../catalog/diagnostics/diagnostics.ts'
import { accessFacts, presetColumns, presetSql } from './access.ts'
import { additionsOfTable, buildColumns, buildColumnSql, type ColumnAddition } from './columns.ts'
import { buildComputed, type Computed } from './functions.ts'
import type { NamedRelation } from './named-relations.ts'
import { unlinked, type RelationLinks, type RelationScope } from './foreign-keys.ts'
import { tableGrants } from './privileges.ts'
import { buildRelations } from './relations.ts'
import { resultContext, type FunctionScope } from './signatures.ts'
import { readValues, type ValueScope } from './scalars.ts'
import { tableAdditions } from './scope.ts'
import type { ColumnSql, EntitySql } from './model.ts'

/** A relation in the API, and the source of its builder. */
export interface Entity {
  readonly facts: EntityFacts
  readonly sql: EntitySql
}

/** The dependencies of a relation besides itself. */
export interface EntityScope extends RelationScope {
  readonly rowFunctions: Lookup<readonly AnnotatedFunction[]>
}

export interface RelationAddition extends ColumnAddition {
  /** Facts of such a relation, or of one whose schema has the addition. */
  readonly relationFacts?: (
    named: NamedRelation,
    columns: readonly ColumnFacts[],
    scope: ValueScope,
    relations: readonly RelationFacts[],
  ) => WithDiagnostics<Partial<EntityFacts>>
  readonly relations?: (named: NamedRelation, scope: RelationScope) => WithDiagnostics<readonly RelationFacts[]>
  /** Columns of it whose privileges matter even without a field. */
  readonly neededColumns?: (relation: AnnotatedRelation) => readonly string[]
  /** Further members of the model of its builder. */
  readonly relationSql?: (relation: AnnotatedRelation) => Partial<EntitySql>
}

const noFunctions: readonly AnnotatedFunction[] = []

const entityIn = ({ value }: WithDiagnostics<Entity | null>): Entity | null => value

export function* buildEntities(
  memo: Memo,
  namedRelations: readonly NamedRelation[],
  scope: EntityScope,
  additions: readonly RelationAddition[],
): Steps<WithDiagnostics<readonly Entity[]>> {
  const list = yield* memo.each(buildEntity, namedRelations, memo, scope, additions)
  return collectFollowed(memo, list, yield* memo.map(entityIn, list))
}

/**
 * Assembles a relation: columns, relations, computed fields, settings and privileges (spec/graphql.md 1.2 to 1.4).
 * Equal parts keep their identity, so that a changed neighbour need not change the entity.
 */
function buildEntity(
  named: NamedRelation,
  memo: Memo,
  scope: EntityScope,
  additions: readonly RelationAddition[],
): WithDiagnostics<Entity> {
  const relationLinks = scope.relationLinks.get(named.id) ?? unlinked
  const columns = memo.of(readColumns, named, scope, additions, ...neededColumns(named, relationLinks, additions))
  const further = memo.same(addedRelations, named, scope, additions)
  const relations = memo.same(buildRelations, named, relationLinks, further)
  const computed = memo.same(computedOf, named, scope.rowFunctions.get(named.id) ?? noFunctions, scope)
  const sql = memo.of(entitySql, named, columns, computed, additions)
  const added = memo.same(addedFacts, named, columns.facts.value, relations.value, scope, additions)
  return memo.of(assembleEntity, named, memo, columns, relations, computed, added, sql)
}

function addedRelations(
  named: NamedRelation,
  scope: RelationScope,
  additions: readonly RelationAddition[],
): WithDiagnostics<readonly RelationFacts[]> {
  const { value, diagnostics } = collectPresent(additions.flatMap((one) => one.relations?.(named, scope) ?? []))
  return withDiagnostics(value.flat(), diagnostics)
}

function addedFacts(
  named: NamedRelation,
  columns: readonly ColumnFacts[],
  relations: readonly RelationFacts[],
  scope: ValueScope,
  additions: readonly RelationAddition[],
): WithDiagnostics<Partial<EntityFacts>> {
  const asked = askedOf(named.relation, named.schema, additions)
  const { value, diagnostics } = collectPresent(
    asked.flatMap((one) => one.relationFacts?.(named, columns, scope, relations) ?? []),
  )
  return withDiagnostics(Object.assign({}, ...value), diagnostics)
}

const computedOf = (
  _: NamedRelation,
  functions: readonly AnnotatedFunction[],
  scope: FunctionScope,
): WithDiagnostics<readonly Computed[]> => buildComputed(resultContext(scope), functions)

interface Columns {
  readonly facts: WithDiagnostics<readonly ColumnFacts[]>
  readonly sql: readonly ColumnSql[]
}

function readColumns(
  named: NamedRelation,
  scope: ValueScope,
  additions: readonly ColumnAddition[],
  ...needed: readonly string[]
): Columns {
  const [values, asked] = [readValues(scope), additionsOfTable(named)]
  return {
    facts: buildColumns(scope, values, named, new Set(needed), asked, additions),
    sql: buildColumnSql(scope, values, named, asked),
  }
}

function assembleEntity(
  named: NamedRelation,
  memo: Memo,
  columns: Columns,
  relations: WithDiagnostics<readonly RelationFacts[]>,
  computed: WithDiagnostics<readonly Computed[]>,
  added: WithDiagnostics<Partial<EntityFacts>>,
  sql: EntitySql,
): WithDiagnostics<Entity> {
  // The spreads last: see comments/annotate.ts.
  const facts: EntityFacts = {
    columns: columns.facts.value,
    relations: relations.value,
    computed: computed.value.map((item) => item.facts),
    root: true,
    ...added.value,
    ...namedFacts(named, memo),
  }
  return withDiagnostics({ facts, sql }, [
    ...columns.facts.diagnostics,
    ...relations.diagnostics,
    ...computed.diagnostics,
    ...added.diagnostics,
  ])
}

/** It contains no names of the API: a renamed neighbour leaves the builder unchanged. */
const entitySql = (
  named: NamedRelation,
  columns: Columns,
  computed: WithDiagnostics<readonly Computed[]>,
  additions: readonly RelationAddition[],
): EntitySql => ({
  id: named.id,
  schema: named.relation.schema,
  relation: named.relation.name,
  columns: columns.sql,
  key: named.key,
  computed: computed.value.map((item) => item.sql),
  ...Object.assign(
    {},
    ...askedOf(named.relation, named.schema, additions).map((one) => one.relationSql?.(named.relation)),
  ),
  ...(presetSql(named.relation).length > 0 && { presets: presetSql(named.relation) }),
})

/**
 * Columns whose privileges matter even without a field: those of the key, of foreign keys, and of unique keys for
 * inputs.
 */
const neededColumns = (
  named: NamedRelation,
  { forward, reverse }: RelationLinks,
  additions: readonly RelationAddition[],
): ReadonlySet<string> =>
  new Set([
    ...named.key,
    ...forward.flatMap((link) => link.columns),
    ...reverse.flatMap((link) => link.foreignColumns),
    ...presetColumns(named.relation),
    ...askedOf(named.relation, named.schema, additions).flatMap((one) => one.neededColumns?.(named.relation) ?? []),
  ])

type HeadFacts = Omit<EntityFacts, 'columns' | 'relations' | 'computed' | 'root'>

const namedFacts = (named: NamedRelation, memo: Memo): HeadFacts => {
  const { id, relation, schema, name, key } = named
  return {
    id,
    schema: relation.schema,
    relation: relation.name,
    kind: relationWord(relation.kind),
    name,
    description: relation.description,
    ...relation.facts,
    // The table's setting takes precedence over that of its schema (spec/graphql.md 5.3).
    maxRows: relation.settings.max_rows ?? schema.maxRows,
    totalCount: relation.settings.totalCount,
    aggregate: relation.settings.aggregate,
    ...tableAdditions(relation, schema),
    ...accessFacts(relation),
    key,
    unique: isIdentified(relation, key),
    // Tables with the same privileges share identical lists of roles.
    grants: memo.of(tableGrants, relation.grants),
  }
}
