import type { EntityFacts } from '../../runtime/contract/manifest.ts'
import type { AnnotatedFunction } from '../comments/types.ts'
import { relationWord } from '../report/object-name.ts'
import { noted, type Noted } from '../report/noted.ts'
import { buildColumns, buildColumnSql } from './columns.ts'
import { buildComputed } from './computed.ts'
import type { Head } from './heads.ts'
import { tableGrants } from './privileges.ts'
import { buildRelations, type Sides } from './relations.ts'
import type { ResultContext } from './results.ts'
import type { EntitySql } from './types.ts'

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

/** Puts a relation together: columns, relations, computed fields, settings and privileges (spec/graphql.md 1.2 to 1.4). */
export function buildEntity(context: ResultContext, head: Head, { sides, functions }: Surroundings): Noted<Entity> {
  const columns = buildColumns(context.values, head, neededColumns(head, sides))
  const relations = buildRelations(sides)
  const computed = buildComputed(context, head.name, functions)
  const fields = {
    columns: columns.value,
    relations: relations.value,
    computed: computed.value.map((item) => item.facts),
  }
  return noted(
    {
      facts: { ...headFacts(head), ...fields },
      sql: {
        id: head.id,
        schema: head.relation.schema,
        relation: head.relation.name,
        columns: buildColumnSql(context.scope, context.values, head),
        key: head.key,
        joins: relations.value.map(({ id, local, foreign }) => ({ id, local, foreign })),
        computed: computed.value.map((item) => item.sql),
      },
    },
    [...columns.diagnostics, ...relations.diagnostics, ...computed.diagnostics],
  )
}

/** Columns whose privileges decide about something even where they have no field: the key's, and those of foreign keys. */
const neededColumns = (head: Head, { forward, reverse }: Sides): ReadonlySet<string> =>
  new Set([
    ...head.key,
    ...forward.flatMap((link) => link.columns),
    ...reverse.flatMap((link) => link.foreignColumns),
  ])

type HeadFacts = Omit<EntityFacts, 'columns' | 'relations' | 'computed'>

const headFacts = ({ id, relation, schema, name, key }: Head): HeadFacts => ({
  id,
  schema: relation.schema,
  relation: relation.name,
  kind: relationWord(relation.kind),
  name,
  description: relation.description,
  // The table's setting goes before that of its schema (5.3).
  maxRows: relation.settings.max_rows ?? schema.maxRows,
  totalCount: relation.settings.totalCount,
  aggregate: relation.settings.aggregate,
  root: relation.settings.root,
  key,
  grants: tableGrants(relation),
})
