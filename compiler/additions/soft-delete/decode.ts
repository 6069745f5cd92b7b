import type { Decoder } from '../../comments/decoders.ts'
import type { Key } from '../../comments/keys.ts'

/** The name of a column; a malformed value matches no column. */
const columnName: Decoder<string | null> = (value) => ({
  ok: true,
  value: value === null || typeof value === 'string' ? value : JSON.stringify(value),
})

export const keys = [
  {
    key: 'softDelete',
    on: ['relation'],
    decode: columnName,
    help: 'the name of a column, a time or a boolean, that marks rows as deleted: deletes set it, and nothing else sees such rows.',
  },
] as const satisfies readonly Key[]
