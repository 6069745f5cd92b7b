import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { withCleanup } from './support/cleanup.ts'
import { withCpu } from './support/cpu.ts'
import { applicationOf, runCompile, writeDocument, writeDocuments } from './support/documents.ts'
import { readOptions } from './support/options.ts'
import { startPostgres } from './support/postgres.ts'
import { commandLine, writeRecord, type RunRecord } from './support/record.ts'
import { spreadOf, spreadText } from './support/statistics.ts'
import { createTables } from './support/tables.ts'
import { printTable, type Row } from './support/table.ts'

/**
 * Compiling documents by the command line: its process alone, the schema alone from nothing and with nothing changed, and the
 * schema with documents for one role and for three that see different tables: from nothing, with nothing changed and with one
 * document changed. A figure "less the schema's" is the difference to the schema alone, from nothing or not. CPU is
 * that of the command and of the parser that it starts, in steps of 10 ms, without Postgres.
 *
 * --tables 500 --documents 1000 --runs 5 --json FILE
 */
const options = readOptions()
const tables = options.number('tables', 500)
const documents = options.number('documents', 1_000)
const runs = options.number('runs', 5)

const allRoles = ['authenticated', 'anon', 'service_role']

/** A separate table for each role, so that their views differ. */
const rolesSql = `
  grant usage on schema public to ${allRoles.join(', ')};
  grant select, insert, update, delete on all tables in schema public to ${allRoles.join(', ')};
  ${allRoles.map((role) => `create table of_${role} (id int primary key); grant select on of_${role} to ${role};`).join('\n')}`

interface Cost {
  readonly ms: number
  readonly cpuMs: number
}

const columns = [
  ['ms', 'ms'],
  ['CPU ms', 'cpuMs'],
] as const satisfies readonly (readonly [string, keyof Cost])[]

interface Case {
  readonly name: string
  /** The name of the case whose cost is subtracted; absent: none. */
  readonly less?: string
  readonly work: () => Promise<unknown>
  /** Preparation before each run, not measured. */
  readonly before?: (run: number) => Promise<void>
}

await withCleanup(async (later) => {
  const postgres = await startPostgres()
  later(postgres.stop)
  const db = await createTables(18, tables)
  await db.query(rolesSql)
  const place = await mkdtemp(join(tmpdir(), 'catalograph-compile-'))
  later(() => rm(place, { recursive: true, force: true }))
  const folder = join(place, 'documents')
  const texts = applicationOf(documents, tables)
  await writeDocuments(folder, texts)

  const alone = { anew: 'the schema alone, from nothing', again: 'the schema alone, nothing changed' }
  const casesOf = (roles: readonly string[]): readonly Case[] => {
    const out = join(place, roles.join())
    const work = (): Promise<void> => runCompile(db, out, { folder, roles })
    // Each depends on the folder's state after the previous one.
    return [
      { name: 'from nothing', less: alone.anew, work, before: () => rm(out, { recursive: true, force: true }) },
      { name: 'nothing changed', less: alone.again, work },
      {
        name: 'one changed',
        less: alone.again,
        work,
        before: (run: number) => writeDocument(folder, 0, `${texts[0]}# ${out} ${run}\n`),
      },
    ].map((one) => ({ ...one, name: `${roles.length === 1 ? 'one role' : `${roles.length} roles`}, ${one.name}` }))
  }
  const schema = join(place, 'schema')
  const cases: readonly Case[] = [
    { name: 'the process alone', work: () => promisify(execFile)(process.execPath, [commandLine, '--version']) },
    {
      name: alone.anew,
      work: () => runCompile(db, schema, null),
      before: () => rm(schema, { recursive: true, force: true }),
    },
    { name: alone.again, work: () => runCompile(db, schema, null) },
    ...[allRoles.slice(0, 1), allRoles].flatMap(casesOf),
  ]
  const costs = cases.map((): Cost[] => [])
  // Alternately: a machine that slows down slows all of them.
  for (let run = 0; run < runs; run += 1)
    for (const [at, { work, before }] of cases.entries()) {
      await before?.(run)
      const started = performance.now()
      const { cpu } = await withCpu({ all: process.pid, postgres: postgres.pid }, work)
      costs[at]?.push({ ms: performance.now() - started, cpuMs: (cpu.all - cpu.postgres) / 1_000 })
    }

  const rows: Row[] = []
  const figures: Record<string, RunRecord['figures'][string]> = {}
  for (const [at, { name, less }] of cases.entries()) {
    const row: Record<string, string> = { compile: name }
    const schemaCosts = costs[cases.findIndex((one) => one.name === less)]
    for (const [title, key] of columns) {
      const values = (costs[at] ?? []).map((one) => one[key])
      row[title] = spreadText(spreadOf(values))
      row[`${title}, less the schema's`] =
        schemaCosts === undefined
          ? ''
          : spreadText(spreadOf(values.map((value, run) => value - (schemaCosts[run]?.[key] ?? NaN))))
      figures[`compile.${name}.${key}`] = values
    }
    rows.push(row)
  }
  printTable(`Compiling ${documents} documents on ${tables} tables`, rows)
  await writeRecord({ bench: 'compile', figures }, options.text('json'))
})
