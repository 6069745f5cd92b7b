import { blogSize, createBlog } from './blog/data.ts'
import { operations } from './blog/operations.ts'
import { compareTranslations } from './compare/translations.ts'
import { openWorktree } from '../test/support/worktree.ts'
import { effortOf, measure, type Measured } from './serve/measure.ts'
import { serveFigures, serveRows } from './serve/report.ts'
import { createAccess, startProduct, type Subject } from './serve/subjects.ts'
import { withCleanup } from './support/cleanup.ts'
import { readOptions } from './support/options.ts'
import { startPostgres } from './support/postgres.ts'
import { writeRecord } from './support/record.ts'
import { printTable } from './support/table.ts'

/**
 * Revisions on one machine, slice by slice alternately: ratios of the others to the first, with their spread. Each is
 * checked out and built beside the working copy, and has its own database, so that none prepares it for another.
 * Without revisions HEAD is compared with fixed ones, so that small losses cannot accumulate unnoticed.
 *
 * npm run bench:compare [REVISION REVISION ...] -- --rounds 20 --seconds 0.25 --rate 200 --scale 0.3 --only key,page
 * --json FILE
 */
const options = readOptions()
const fixed = ['a5269c3', 'HEAD~1', 'HEAD']
const given = options.texts('revisions')
const revisions = given.length === 0 ? fixed : given
if (revisions.length < 2) throw new Error('With which one? npm run bench:compare REVISION REVISION')
const only = options.text('only')?.split(',')
const chosen = operations.filter(({ name }) => only?.includes(name) ?? true)
const size = blogSize(options.number('scale', 0.3))
const effort = { ...effortOf(options), rounds: options.number('rounds', 6) }

await withCleanup(async (later) => {
  const postgres = await startPostgres()
  later(postgres.stop)
  const access = await createAccess()
  const open = async (revision: string) => {
    const worktree = await openWorktree(revision)
    later(worktree.remove)
    const db = await createBlog(18, size)
    later(db.drop)
    const subject = await startProduct(db, access, { name: worktree.name, folder: worktree.folder })
    later(subject.server.stop)
    return { worktree, subject }
  }
  const opened = []
  for (const revision of revisions) opened.push(await open(revision))
  const subjects: readonly Subject[] = opened.map(({ subject }) => subject)
  const [base, ...others] = opened.map(({ worktree }) => worktree)
  const last = others.at(-1)
  if (base === undefined || last === undefined) throw new Error('there is nothing to compare')
  const measured: Measured[] = []
  for (const operation of chosen) measured.push(...(await measure(subjects, operation, size, effort, postgres.pid)))
  printTable(`Serving, medians of ${effort.rounds} rounds`, serveRows(measured, base.name))
  const translations = await compareTranslations(base, last, options.number('translations', 3))
  if (translations.length > 0) printTable('Compile and translation on 20 tables', translations)
  await writeRecord({ bench: 'compare', figures: serveFigures(measured) }, options.text('json'))
})
