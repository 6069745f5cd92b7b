import type { Query } from '../../runtime/db/connect/session.ts'
import { didYouMean } from '../../runtime/lib/text.ts'
import { CommandFailure } from './command.ts'

/** @throws CommandFailure with a suggestion, if the database has no such role */
export async function demandRole(query: Query, role: string, exitCode?: number): Promise<void> {
  const { rows } = await query<{ readonly name: string }>('select rolname::text as name from pg_catalog.pg_roles')
  const names = rows.map(({ name }) => name)
  if (names.includes(role)) return
  throw new CommandFailure(`the database has no role ${role}${didYouMean(role, names)}`, exitCode)
}
