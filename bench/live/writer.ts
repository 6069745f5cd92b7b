import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import type { Stage } from './stage.ts'
import type { Lateness } from './streams.ts'

/** Writes increasing values to boards. */
export interface Writer {
  readonly write: (board: number, lateness: Lateness) => Promise<number>
  readonly end: () => Promise<void>
}

export const openWriter = async ({ db }: Stage): Promise<Writer> => {
  const client = new pg.Client(db.ownerUrl)
  await client.connect()
  let last = 0
  return {
    write: async (board, lateness) => {
      last += 1
      const value = last
      lateness.sent(value)
      await client.query({ name: 'w', text: 'update boards set value = $1 where id = $2', values: [value, board] })
      lateness.committed(value)
      return value
    },
    end: () => client.end(),
  }
}

/** A number of commits per second, on one board after the other. */
export const writeOn = async (
  writer: Writer,
  lateness: Lateness,
  { ms, perSecond, boards }: { readonly ms: number; readonly perSecond: number; readonly boards: number },
): Promise<void> => {
  const started = performance.now()
  for (let count = 0; (count * 1_000) / perSecond < ms; count += 1) {
    const wait = (count * 1_000) / perSecond - (performance.now() - started)
    if (wait > 0) await pause(wait)
    await writer.write(1 + (count % boards), lateness)
  }
}
