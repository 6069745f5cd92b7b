import { createListRecall, createRecall, sameJson } from '../../runtime/lib/recall.ts'
import type { ColumnFacts, EntityFacts, ObjectId, RelationFacts } from '../../runtime/contract/manifest.ts'
import type { AnnotatedFunction } from '../comments/types.ts'
import { relationWord } from '../report/object-name.ts'
import { createGather, noted, type Noted } from '../report/noted.ts'
import { buildColumns, buildColumnSql } from './columns.ts'
import { buildComputed, type Computed } from './computed.ts'
import type { Head } from './heads.ts'
import { unlinked, type Sides } from './links.ts'
import { tableGrants } from './privileges.ts'
import { buildRelations } from './relations.ts'
import type { ResultContext } from './results.ts'
import { isIdentified } from './rules/one-to-one.ts'
import { tableAdditions } from './table-additions.ts'
import { buildArbiters, type Arbiters } from './upsert.ts'
import type { ColumnSql, EntitySql } from './types.ts'
import { columnWitnesses } from './witnesses.ts'

/** A relation as the API has it, and what its builder is written from. */
export interface Entity {
  readonly facts: EntityFacts
  readonly sql: EntitySql
}

/** What belongs to one relation besides itself. */
export interface Surroundings {
  readonly sides: Sides
  /** Functions whose one argument is its row. */
  readonly functions: readonly AnnotatedFunction[]
}

/** Parts that say the same as before stay the same, so that a changed neighbour need not change the entity. */
const recallColumns = createRecall<Columns>()
const recallRelations = createRecall<Noted<readonly RelationFacts[]>>(sameJson)
const recallComputed = createRecall<Noted<readonly Computed[]>>(sameJson)
const recallArbiters = createRecall<Noted<Arbiters> | null>()
const recallSql = createRecall<EntitySql>()
const recallEntity = createRecall<Noted<Entity>>()
const recallWhole = createRecall<Noted<Entity>>()

const recallEntities = createListRecall<Head, Noted<Entity>>()
const gatherEntities = createGather<Entity>()

/** What the rows of a relation are handed to. */
export type RowFunctions = ReadonlyMap<ObjectId, readonly AnnotatedFunction[]>

const noFunctions: readonly AnnotatedFunction[] = []

/**
 * All relations, put together. What functions make of rows depends on much else: where there are some, each relation is
 * looked at.
 */
export function buildEntities(
  context: ResultContext,
  heads: readonly Head[],
  links: ReadonlyMap<ObjectId, Sides>,
  functions: RowFunctions,
): Noted<readonly Entity[]> {
  const { meanings, schemas } = context.scope
  const inputs = [meanings, links, functions.size === 0 ? null : context]
  return gatherEntities(
    schemas,
    recallEntities(schemas, heads, inputs, (head) =>
      buildEntity(context, head, {
        sides: links.get(head.id) ?? unlinked,
        functions: functions.get(head.id) ?? noFunctions,
      }),
    ),
  )
}

/**
 * Puts a relation together: columns, relations, computed fields, settings and privileges (spec/graphql.md 1.2 to 1.4).
 */
function buildEntity(context: ResultContext, head: Head, surroundings: Surroundings): Noted<Entity> {
  const { sides, functions } = surroundings
  const { meanings, schemas } = context.scope
  const all = [meanings, schemas, functions.length === 0 ? null : context, sides]
  return recallWhole(head, all, () => putTogether(context, head, surroundings))
}

function putTogether(context: ResultContext, head: Head, { sides, functions }: Surroundings): Noted<Entity> {
  const arbiters = recallArbiters(head, [], () => buildArbiters(head))
  const needed = neededColumns(head, sides, arbiters)
  const witnesses = [...columnWitnesses(context.scope, head.relation), ...needed]
  const columns = recallColumns(head, witnesses, () => readColumns(context, head, needed))
  const ordered = tableAdditions(head.relation, head.schema).orderByRelated === true
  const relations = recallRelations(head, [sides], () => buildRelations(head, sides, ordered))
  const asked = functions.length === 0 ? [] : [context]
  const computed = recallComputed(head, asked, () => buildComputed(context, functions))
  return recallEntity(head, [columns, relations, computed], () =>
    assemble(head, columns, relations, computed, arbiters),
  )
}

interface Columns {
  readonly facts: Noted<readonly ColumnFacts[]>
  readonly sql: readonly ColumnSql[]
}

const readColumns = ({ scope, values }: ResultContext, head: Head, needed: ReadonlySet<string>): Columns => ({
  facts: buildColumns(values, head, needed),
  sql: buildColumnSql(scope, values, head),
})

function assemble(
  head: Head,
  columns: Columns,
  relations: Noted<readonly RelationFacts[]>,
  computed: Noted<readonly Computed[]>,
  arbiters: Noted<Arbiters> | null,
): Noted<Entity> {
  const fields = {
    columns: columns.facts.value,
    relations: relations.value,
    computed: computed.value.map((item) => item.facts),
    ...(arbiters && { uniqueKeys: arbiters.value.facts }),
  }
  return noted(
    {
      facts: { ...headFacts(head), ...fields },
      sql: recallSql(head, [columns, computed, arbiters], () => entitySql(head, columns, computed, arbiters)),
    },
    [...columns.facts.diagnostics, ...relations.diagnostics, ...computed.diagnostics, ...(arbiters?.diagnostics ?? [])],
  )
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
