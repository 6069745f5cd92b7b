import type { LiveRelation } from '../../../runtime/contract/live.ts'
import { literal } from '../../../runtime/sql/tree.ts'
import { qualified } from '../../../runtime/sql/ident.ts'

/** SQL that installs the reporting triggers on tables, with the privileges of the preparing role. */
export const liveStatements = (tables: readonly LiveRelation[]): readonly string[] =>
  tables.map(
    ({ schema, name }) => `select catalograph.live_install(${literal(qualified(schema, name))}::pg_catalog.regclass)`,
  )
