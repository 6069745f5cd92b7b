import { membersOf, switched, tableNamed, type NamedTable } from '../../comments/additions.ts'
import { keyTable, readComment } from '../../comments/settings.ts'
import type { Key } from '../../comments/keys.ts'
import type { LiveComments } from '../../emit/live/read-relations.ts'
import { isJsonList, member, type Decoder } from '../../comments/decoders.ts'

/** `{"reads": ["schema.table", ...]}`, possibly empty; null if absent or malformed. */
const liveReads: Decoder<readonly NamedTable[] | null> = (value) => {
  const { given, remarks } = membersOf(value, ['reads'])
  if (given === null) return { ok: true, value: null, remarks }
  const reads = member(given, 'reads')
  const tables = isJsonList(reads) ? reads.map(tableNamed) : [null]
  const named = tables.filter((table) => table !== null)
  if (named.length === tables.length) return { ok: true, value: named, remarks }
  return { ok: true, value: null, remarks: [...remarks, '"reads" is no list of tables as "schema.table"'] }
}

export const keys = [
  {
    key: 'live',
    on: ['schema', 'relation'],
    decode: switched,
    help: '{"enabled": true} lets queries of it be watched; a table goes before its schema.',
  },
  {
    key: 'live',
    on: ['function'],
    decode: liveReads,
    help: '{"reads": ["schema.table", ...]}: what a function reads that the compiler cannot read.',
  },
] as const satisfies readonly Key[]

const ownTable = keyTable(keys)

/** Those of objects of any schema, also of one that is not served. */
export const comments: LiveComments = {
  isLive: (kind, comment) => readComment(ownTable, kind, () => '', comment).settings.live,
  reads: (comment) => readComment(ownTable, 'function', () => '', comment).settings.live,
}
