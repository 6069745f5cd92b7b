import { rename, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Attack } from '../arms.ts'
import { asking } from '../callers.ts'

/** Faults of the database itself. */

const terminate = `select pg_terminate_backend(pid) from (select pid from pg_stat_activity
  where usename = 'authenticator' order by random() limit 1) one`

const terminations: Attack['run'] = async (arms) => {
  while (!arms.isOver()) {
    await arms.town.admin(terminate)
    await arms.rest(200 + arms.random(400))
  }
}

const changes: readonly ((n: number) => string)[] = [
  (n) => `alter table changing add column if not exists c${n} int default ${n}`,
  (n) => `alter table changing drop column if exists c${n}`,
  (n) => `comment on table changing is 'number ${n}'`,
  (n) => `create table if not exists passing_${n} (id int primary key); grant select on passing_${n} to anon`,
  (n) => `drop table if exists passing_${n}`,
  (n) => `create or replace function twice(a int) returns int language sql stable as $$ select 2 * a + 0 * ${n} $$`,
  () => 'revoke insert on changing from anon',
  () => 'grant insert on changing to anon',
]

const ddl: Attack['run'] = async (arms) => {
  while (!arms.isOver()) {
    const change = changes[arms.random(changes.length)]
    if (change !== undefined) await arms.town.admin(change(arms.random(3)))
    await arms.ask(asking(arms.anon, '{ changingCollection { edges { node { id name } } } }'))
    await arms.rest(50 + arms.random(150))
  }
}

/** Of tables that honest callers do not read: ten statements a second, and now and then twenty in one transaction. */
const migration: Attack['run'] = async (arms) => {
  for (let step = 0; !arms.isOver(); step += 1) {
    const statements = Array.from(
      { length: step % 8 === 7 ? 20 : 1 },
      (_, place) => `alter table moving_${place % 4} alter column name set default '${step} ${place}'`,
    )
    await arms.town.admin(statements.join(';'))
    await arms.rest(100)
  }
}

const outage =
  (ending: 'stop' | 'kill'): Attack['run'] =>
  async (arms) => {
    await arms.rest(500)
    await arms.town.cluster[ending]()
    await pause(500 + arms.random(1_000))
    await arms.town.cluster.restart()
    await arms.rest(1_000)
  }

/** Writing to it fails as on a full disk (full(4)), and it reads as an empty file. */
const full = '/dev/full'

const filling = 'mutation { insertIntoOnFullDiskCollection(objects: [{ body: "a" }]) { affectedCount } }'

const fullDisk: Attack['run'] = async (arms) => {
  const [row] = await arms.town.admin(`select pg_relation_filepath('on_full_disk') as path`)
  const file = join(arms.town.cluster.folder, String(row?.['path']))
  await rename(file, `${file}.empty`)
  await symlink(full, file)
  while (!arms.isOver()) {
    await arms.ask(asking(arms.anon, filling))
    await arms.rest(20 + arms.random(50))
  }
  await rename(`${file}.empty`, file)
}

const terminateAll = `select pg_terminate_backend(pid) from pg_stat_activity
  where usename = 'authenticator' and datname = current_database()`

/** One attempt is one transaction: within one, pg_stat_activity shows the sessions of its first look. */
const tries = 100

/** As where a database is dropped and made again: its sessions end, and the service's schema is gone. */
const dropSchema = async (arms: Parameters<Attack['run']>[0], left = tries): Promise<void> => {
  await arms.town.admin(terminateAll)
  try {
    await arms.town.admin(`set local lock_timeout = '100ms'; drop schema catalograph cascade`)
  } catch (error) {
    const { code } = error as { readonly code?: string }
    if (left === 0 || (code !== '55P03' && code !== '40P01')) throw error
    await dropSchema(arms, left - 1)
  }
}

const unprepared: Attack['run'] = async (arms) => {
  await arms.rest(500)
  await dropSchema(arms)
  await arms.rest(60_000)
}

const away = 'the database is away'
const whileAway = {
  answered: away,
  strangers: away,
  accepted: away,
  prompt: away,
  health: away,
  coded: away,
  strays: away,
  deadline: away,
  heard: away,
}
const unpreparedNow = 'the schema of the service is gone, and is made again'

export const database: readonly Attack[] = [
  {
    name: 'terminated backends',
    does: 'sessions of the server are terminated in the middle of their work',
    relaxes: {
      accepted: 'a mutation whose connection died may have been kept, and is not repeated',
      heard: 'the connections that report changes are opened again and again',
    },
    endsSessions: true,
    run: terminations,
  },
  { name: 'schema changes', does: 'tables, columns, comments, functions and grants change', relaxes: {}, run: ddl },
  {
    name: 'a migration',
    does: 'tables change all the time that nobody reads',
    relaxes: {},
    run: migration,
  },
  {
    name: 'a full disk',
    does: 'Postgres cannot extend the table of a stranger',
    relaxes: {},
    run: fullDisk,
  },
  {
    name: 'an outage',
    does: 'Postgres stops and comes again a second later',
    relaxes: whileAway,
    alone: true,
    run: outage('stop'),
  },
  {
    name: 'a crash',
    does: 'Postgres ends without a checkpoint, and recovers a second later',
    relaxes: whileAway,
    alone: true,
    run: outage('kill'),
  },
  {
    name: 'a database that is not prepared any more',
    does: 'the schema of the service is dropped',
    relaxes: {
      answered: unpreparedNow,
      strangers: unpreparedNow,
      accepted: unpreparedNow,
      prompt: unpreparedNow,
      health: unpreparedNow,
      heard: unpreparedNow,
    },
    // Until it is prepared again on a busy machine.
    leastMs: 9_000,
    alone: true,
    endsSessions: true,
    run: unprepared,
  },
]
