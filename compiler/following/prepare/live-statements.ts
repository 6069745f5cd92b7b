import type { LiveRelation } from '../../../runtime/contract/live.ts'
import { literal } from '../../../runtime/sql/literal.ts'
import { qualified } from '../../../runtime/sql/ident.ts'

/** SQL that gives tables the triggers which tell their changes; it runs with the rights of the role that prepared the database. */
export const liveStatements = (tables: readonly LiveRelation[]): readonly string[] =>
  tables.map(
    ({ schema, name }) => `select catalograph.live_install(${literal(qualified(schema, name))}::pg_catalog.regclass)`,
  )
