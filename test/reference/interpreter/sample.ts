import type { ApiTable } from './api-types.ts'
import { readValue } from './types.ts'
import { columnNamed, type Json, type World } from './world.ts'

/** The answer depends on rows of a sampled table that were not read. */
export class Unknown extends Error {
  constructor(table: string) {
    super(`not all rows of ${table} are known`)
    this.name = 'Unknown'
  }
}

/**
 * Of a sampled table only rows requested by their keys are known.
 * @throws Unknown if others may be requested
 */
export function demandKnown(world: World, table: ApiTable, filter: Json | undefined): void {
  if (table.sketch.sampled === true && !isWithin(world, table, filter)) throw new Unknown(table.type)
}

type Members = Readonly<Record<string, Json>>

function isWithin(world: World, table: ApiTable, filter: Json | undefined): boolean {
  if (typeof filter !== 'object' || filter === null || Array.isArray(filter)) return false
  const entries = Object.entries(filter as Members)
  return entries.some(([name, asked]) => {
    if (table.filters.get(name)?.name === table.sketch.primaryKey[0]) return isKnown(world, table, asked)
    if (name !== 'and' || table.filters.has(name)) return false
    return (Array.isArray(asked) ? asked : [asked]).some((item: Json) => isWithin(world, table, item))
  })
}

/** Whether `{in: [...]}` lists only keys of known rows. */
function isKnown(world: World, { sketch }: ApiTable, asked: Json): boolean {
  const keys = typeof asked === 'object' && asked !== null ? (asked as Members)['in'] : undefined
  if (!Array.isArray(keys)) return false
  const { name, type } = columnNamed(sketch, sketch.primaryKey[0] ?? '')
  const position = sketch.columns.findIndex((column) => column.name === name)
  const known = new Set(sketch.rows.map((row) => row[position]))
  return keys.every((key: Json) => known.has(readValue(world, type, key)))
}
