import { setTimeout as pause } from 'node:timers/promises'
import { createLeftovers } from '../runtime/auth/store/leftovers.ts'
import { openStatements } from '../runtime/db/pool/statements.ts'
import { projectKeys } from '../runtime/identity/project-keys.ts'
import { makeCases } from './auth/cases.ts'
import { measureCase } from './auth/measure.ts'
import { openPlace, type Place } from './auth/place.ts'
import { addPeople } from './growth/people.ts'
import { withCleanup } from './support/cleanup.ts'
import { withCpu } from './support/cpu.ts'
import { httpRequest, openConnection } from './support/http-client.ts'
import { readOptions } from './support/options.ts'
import { writeRecord } from './support/record.ts'
import { figure, median } from './support/statistics.ts'
import { printTable, type Cell, type Row } from './support/table.ts'

/**
 * Auth as it grows: the disk space of a user, table by table, and the work of Postgres for one request and for
 * housekeeping, with growing numbers of users. All in memory: the cost of a disk is not measured.
 *
 * --users 10000,100000,1000000 --rounds 3 --json FILE
 */
const options = readOptions()
const sizes = options.numbers('users', [10_000, 100_000, 1_000_000])
const rounds = options.number('rounds', 3)
const step = 50_000

interface Sizes {
  readonly table: string
  readonly rows: number
  readonly heap: number
  readonly indexes: number
}

const sizesOf = `select relname as table, greatest(reltuples, 0)::float8 as rows, pg_table_size(oid)::float8 as heap,
    pg_indexes_size(oid)::float8 as indexes
  from pg_class where relnamespace = 'auth'::regnamespace and relkind = 'r' and reltuples > 0
  order by pg_total_relation_size(oid) desc`

/** Milliseconds of Postgres for one answer of an administrators' endpoint. */
async function adminCost({ ours, secret, postgres }: Place, path: string): Promise<number> {
  const connection = await openConnection(ours.port)
  const headers = {
    apikey: projectKeys(secret).serviceRole,
    authorization: `Bearer ${projectKeys(secret).serviceRole}`,
  }
  const ask = () => connection.send(httpRequest({ method: 'GET', path: `/auth/v1/admin${path}`, headers }))
  try {
    await ask()
    const costs: number[] = []
    for (let round = 0; round < rounds; round += 1) {
      const { value, cpu } = await withCpu({ postgres }, ask)
      if (value.status !== 200) throw new Error(`${path}: ${value.status} ${value.body.toString()}`)
      costs.push(cpu.postgres / 1_000)
    }
    return median(costs)
  } finally {
    connection.close()
  }
}

const adminPaths = {
  'users, first page': '/users?page=1&per_page=50',
  'users, by a part of the address': '/users?page=1&per_page=50&filter=person-77',
  'log, first page': '/audit?page=1&per_page=50',
}

/** One scan of every table, and a second one without rows to delete: statements, CPU of Postgres, slowest. */
async function housekeeping({ db, postgres }: Place) {
  const { run, close } = openStatements({
    url: db.ownerUrl,
    schemas: ['auth'],
    role: null,
    poolSize: 1,
    statementTimeout: 0,
  })
  const walk = async () => {
    const leftovers = createLeftovers(run)
    const limits = { session_timebox: null, session_inactivity: 90 * 86_400, audit_retention: null }
    let [statements, longest, more] = [0, 0, true]
    while (more) {
      const began = performance.now()
      more = await leftovers.tidy(limits)
      longest = Math.max(longest, performance.now() - began)
      statements += 1
    }
    return { statements, longest }
  }
  try {
    const first = await withCpu({ postgres }, walk)
    await db.query('vacuum')
    const second = await withCpu({ postgres }, walk)
    return {
      first: { ...first.value, cpu: first.cpu.postgres / 1_000 },
      second: { ...second.value, cpu: second.cpu.postgres / 1_000 },
    }
  } finally {
    await close()
  }
}

await withCleanup(async () => {
  const figures: Record<string, number[]> = {}
  const requests: Row[] = []
  const disk: Row[] = []
  for (const users of sizes) {
    await withCleanup(async (later) => {
      const place = await openPlace(later)
      for (let first = 1; first <= users; first += step)
        await addPeople(place.db.query, place.storedHash, first, Math.min(users, first + step - 1))
      await place.db.query('vacuum analyze')
      await pause(500)
      const note = (name: string, value: number): void => {
        row[name] = figure(value)
        figures[`growth.${users}.${name}`] = [value]
      }
      for (const { table, rows, heap, indexes } of (await place.db.query(sizesOf)).rows as unknown as Sizes[])
        disk.push({
          users,
          table,
          rows: figure(rows),
          'bytes a user': figure((heap + indexes) / users),
          'of them indexes': figure(indexes / users),
        })
      const row: Record<string, Cell> = { users }
      for (const [name, path] of Object.entries(adminPaths)) note(name, await adminCost(place, path))
      for (const one of await makeCases(place, { newcomers: 20 })) {
        if (!['GET /user', 'refresh', 'password sign-in'].includes(one.name)) continue
        const sides = one.sides.filter(({ name }) => name === 'ours')
        const measured = await measureCase({ ...one, sides }, { rounds, ms: 1_000, postgres: place.postgres })
        note(one.name, median([...measured.values()].flat().map(({ postgres }) => postgres)))
      }
      const { first, second } = await housekeeping(place)
      note('a walk that deletes', first.cpu)
      note('a walk that finds nothing', second.cpu)
      note('statements of it', second.statements)
      note('longest of them', first.longest)
      requests.push(row)
    })
  }
  printTable('On disk', disk)
  printTable('CPU of Postgres, in ms', requests)
  await writeRecord({ bench: 'growth', figures }, options.text('json'))
})
