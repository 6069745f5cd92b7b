import { assaultRow, assaultFigures, measureAssault, type MeasuredAssault } from './siege/assaults.ts'
import { documentRows, measureDocuments } from './siege/documents.ts'
import { endingOf, longMutation } from './siege/limits.ts'
import { withCleanup } from './support/cleanup.ts'
import { readOptions } from './support/options.ts'
import { postgresSource } from './support/postgres.ts'
import { writeRecord } from './support/record.ts'
import { printTable } from './support/table.ts'
import { dearDocuments } from '../test/support/siege/attacks/documents.ts'
import { openStage } from '../test/support/siege/stage.ts'

/**
 * The effect of attackers on honest callers: p50 and p99 of the same honest traffic, and p99 of live queries, alone and under
 * each attack, by turns in one run, with the memory and CPU of the server; what a dear document costs when it is first seen and when it is seen
 * again; how long a mutation takes whose functions take longer than a request may; and how a server ends that has a
 * request longer than its grace.
 *
 * The figures of sharing (docs/sharing.md): --only 'slow streams,patched streams,a locked table,a migration behind a reader'
 *
 * --seconds 6 (of an attack) --alone 4 --rate 100 --seed 1 --only NAME,NAME (attacks, documents) --pg 18 --json FILE
 */
const options = readOptions()
const only = options.text('only')?.split(',')
const isChosen = ({ name }: { readonly name: string }): boolean => only?.includes(name) ?? true
const major = options.number('pg', 18) === 15 ? 15 : 18
const seed = options.number('seed', 1)
const effort = { attackMs: options.number('seconds', 6) * 1_000, aloneMs: options.number('alone', 4) * 1_000 }

/** The defaults of a server, except for its grace period. */
const usual = {
  STATEMENT_TIMEOUT_MS: '30000',
  REQUEST_TIMEOUT_MS: '45000',
  WRITE_TIMEOUT_MS: '10000',
  SHUTDOWN_GRACE_MS: '2000',
}

await withCleanup(async (later) => {
  const source = await postgresSource(major)
  const perSecond = options.number('rate', 100)
  const stage = await openStage({ source, seed, tell: () => undefined, perSecond, settings: usual })
  later(stage.close)
  const measured: MeasuredAssault[] = []
  for (const attack of stage.attacks.filter(isChosen)) measured.push(await measureAssault(stage, attack, effort))
  printTable(`Under siege, ${perSecond} honest requests a second`, measured.map(assaultRow))
  await stage.audit()
  const documents = await measureDocuments(stage.town, dearDocuments().filter(isChosen))
  printTable('Dear documents, milliseconds', documentRows(documents))
  const rows = [await longMutation(source), await endingOf(stage.town)]
  printTable(
    'Limits',
    rows.map(({ row }) => row),
  )
  const all = [...measured.map(assaultFigures), ...[...documents, ...rows].map(({ figures }) => figures)]
  const figures = Object.assign({}, ...all) as Readonly<Record<string, number>>
  await writeRecord({ bench: 'siege', figures }, options.text('json'))
})
