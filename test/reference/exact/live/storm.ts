import { setTimeout as pause } from 'node:timers/promises'
import { ident } from '../../../../runtime/sql/ident.ts'
import type { Random } from '../../../support/random.ts'
import { drawChange, type Change, type DrawChange } from './changes.ts'
import { connectWriter, type History, type Verdicts } from './history.ts'
import { drawBy } from './writers.ts'

/** The owner, who changes objects, privileges and settings while watchers listen. */

/** They change nothing in the API. */
const noises: readonly ((table: string) => string)[] = [
  () => 'create table if not exists noise (id int primary key)',
  () => 'drop table if exists noise',
  (table) => `alter table ${table} add column if not exists noise int`,
  (table) => `alter table ${table} drop column if exists noise`,
  (table) => `alter table ${table} set (fillfactor = 90)`,
  (table) => `analyze ${table}`,
  (table) => `vacuum full ${table}`,
  () => 'begin; create table undone (id int primary key); rollback',
]

export interface Storm {
  readonly url: string
  readonly history: History
  /** The verdicts of documents, read without concurrent changes. */
  readonly judge: () => Promise<Verdicts>
  /** The possible changes. */
  readonly changes: readonly DrawChange[]
  readonly random: Random
  readonly isOver: () => boolean
  /** Milliseconds between two changes. */
  readonly pauseMs: number
}

export async function rage({ url, history, judge, changes, random, isOver, pauseMs }: Storm): Promise<void> {
  const client = await connectWriter(url)
  const make = async ({ world, sql }: Change): Promise<boolean> => {
    await history.commit(client, sql, async () => {
      await client.query(`begin; ${sql} commit`)
      return { world, verdicts: await judge() }
    })
    return history.last().world === world
  }
  try {
    while (!isOver()) {
      await pause(random(2 * pauseMs))
      const draw = drawBy(random)
      const change = draw.chance(25) ? null : drawChange(draw, history.last().world, changes)
      if (change === null) {
        const table = ident(draw.pick(history.last().world.tables).name)
        await client.query(draw.pick(noises)(table)).catch(() => undefined)
      } else if ((await make(change)) && change.back !== null && draw.chance(70)) {
        await pause(random(2 * pauseMs))
        await make(change.back)
      }
    }
  } finally {
    await client.end()
  }
}
