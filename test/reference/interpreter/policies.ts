import type { Command, Json, PolicySketch, TableSketch, Value } from './world.ts'

type Row = ReadonlyMap<string, Value>

export type Claims = Readonly<Record<string, Json>>

/** All rows of a table. */
type ReadRows = (table: string) => readonly Row[]

/** Permissive policies: one true policy is enough (Postgres manual 5.9). */
export function allows(read: ReadRows, table: TableSketch, claims: Claims, command: Command, row: Row): boolean {
  if (table.policies === null) return true
  return table.policies
    .filter((policy) => policy.command === command || policy.command === 'all')
    .some((policy) => holds(read, policy, claims, row))
}

function holds(read: ReadRows, { condition }: PolicySketch, claims: Claims, row: Row): boolean {
  switch (condition.kind) {
    case 'always':
      return true
    case 'flag':
      return row.get(condition.column) === true
    case 'owner':
      return typeof claims['sub'] === 'string' && row.get(condition.column) === claims['sub']
    case 'exists': {
      const wanted = (condition.column === null ? claims['sub'] : row.get(condition.column)) ?? null
      return (
        wanted !== null && read(condition.table).some((other) => textOf(other.get(condition.foreign)) === `${wanted}`)
      )
    }
  }
}

const textOf = (value: Value | undefined): string | null => (value === undefined || value === null ? null : `${value}`)
