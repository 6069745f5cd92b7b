import type { Command, Json, PolicySketch, TableSketch, Value } from './world.ts'

type Row = ReadonlyMap<string, Value>

export type Claims = Readonly<Record<string, Json>>

/** Permissive policies: one that holds is enough, none forbids (Postgres manual 5.9). */
export function allows(table: TableSketch, claims: Claims, command: Command, row: Row): boolean {
  if (table.policies === null) return true
  return table.policies
    .filter((policy) => policy.command === command || policy.command === 'all')
    .some((policy) => holds(policy, claims, row))
}

function holds({ condition }: PolicySketch, claims: Claims, row: Row): boolean {
  switch (condition.kind) {
    case 'always':
      return true
    case 'flag':
      return row.get(condition.column) === true
    case 'owner':
      return typeof claims['sub'] === 'string' && row.get(condition.column) === claims['sub']
  }
}
