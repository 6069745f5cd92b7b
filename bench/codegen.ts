import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { clientFiles, type Files } from '../compiler/commands/codegen/client.ts'
import { applyChanges, findChanges, withGeneratedHeader } from '../compiler/commands/codegen/folder.ts'
import { databaseSource } from '../compiler/commands/codegen/source.ts'
import {
  check,
  createApplication,
  editorUses,
  useNames,
  type Checked,
  type EditorUse,
  type Use,
} from './codegen/application.ts'
import { edit, serviceNames, type Edited, type Service } from './codegen/editor.ts'
import { withCleanup } from './support/cleanup.ts'
import { readOptions } from './support/options.ts'
import { startPostgres } from './support/postgres.ts'
import { writeRecord } from './support/record.ts'
import { figure, median } from './support/statistics.ts'
import { printTable, type Row } from './support/table.ts'
import { createTables } from './support/tables.ts'

/**
 * Typed clients of schemas with more and more tables: what making one takes, and what the TypeScript compiler needs for
 * a file that has nothing to do with it, one that imports a table, and one that imports all of them. Every table leads
 * to every other by foreign keys, so that importing one is the worst case. Then what the language services of editors
 * need until they offer names for an unfinished selection, at first and after each edit: two foreign keys a table, so
 * that 500 tables are about what MusicBrainz has. Medians of the rounds, those of services in CPU time.
 *
 * --tables 10,100,500,1000 --rounds 3 --edits 9 --json FILE
 */
const options = readOptions()
const sizes = options.numbers('tables', [10, 100, 500, 1_000])
const rounds = options.number('rounds', 3)
const edits = options.number('edits', 9)

interface Made {
  readonly tables: number
  readonly schemaMs: number
  readonly filesMs: number
  readonly writeMs: number
  readonly files: Files
}

const timed = async <T>(work: () => Promise<T> | T): Promise<readonly [T, number]> => {
  const from = performance.now()
  const value = await work()
  return [value, performance.now() - from]
}

/** As the command does it, from a database. */
const make = async (url: string, tables: number, out: string): Promise<Made> => {
  const source = databaseSource({ url, schemas: ['public'] }, 'authenticated')
  const [schema, schemaMs] = await timed(source.load)
  const [files, filesMs] = await timed(() =>
    withGeneratedHeader(clientFiles(schema, { Datetime: 'Date' }), 'authenticated'),
  )
  const [, writeMs] = await timed(async () => applyChanges(out, await findChanges(out, files)))
  return { tables, schemaMs, filesMs, writeMs, files }
}

const bytesOf = (files: Files): number => Object.values(files).reduce((sum, text) => sum + Buffer.byteLength(text), 0)

const madeRow = ({ tables, schemaMs, filesMs, writeMs, files }: Made): Row => ({
  tables,
  'schema, ms': figure(schemaMs),
  'client, ms': figure(filesMs),
  'writing, ms': figure(writeMs),
  'all, s': figure((schemaMs + filesMs + writeMs) / 1_000),
  files: Object.keys(files).length,
  kB: figure(bytesOf(files) / 1_000),
  'kB of a table': figure(bytesOf({ a: files['tables/tab_9.d.ts'] ?? '', b: files['tables/tab_9.js'] ?? '' }) / 1_000),
})

interface CheckedUse {
  readonly tables: number
  readonly use: Use
  readonly checked: Checked
}

const medianOf = (all: readonly Checked[]): Checked => {
  const of = (name: keyof Checked): number => median(all.map((checked) => checked[name]))
  return {
    files: of('files'),
    instantiations: of('instantiations'),
    types: of('types'),
    memoryMb: of('memoryMb'),
    parseMs: of('parseMs'),
    checkMs: of('checkMs'),
    totalMs: of('totalMs'),
  }
}

const checkedRow = ({ tables, use, checked }: CheckedUse): Row => ({
  use,
  tables,
  files: checked.files,
  types: checked.types,
  instantiations: checked.instantiations,
  'memory, MB': figure(checked.memoryMb),
  'parsing, ms': figure(checked.parseMs),
  'checking, ms': figure(checked.checkMs),
  'all, ms': figure(checked.totalMs),
})

interface EditedUse {
  readonly tables: number
  readonly use: EditorUse
  readonly service: Service
  readonly edited: Edited
}

/** The uses alternately, so that a slow minute affects all of them. */
const editAll = async (folder: string, tables: number): Promise<readonly EditedUse[]> => {
  const found: EditedUse[] = []
  for (let round = 0; round < rounds; round++) {
    for (const service of serviceNames) {
      for (const use of editorUses)
        found.push({ tables, use, service, edited: await edit(folder, service, use, edits) })
    }
  }
  return serviceNames.flatMap((service) =>
    editorUses.map((use) => {
      const all = found.filter((one) => one.service === service && one.use === use).map(({ edited }) => edited)
      return {
        tables,
        use,
        service,
        edited: { loadMs: medianBy(all, 'loadMs'), completionMs: medianBy(all, 'completionMs') },
      }
    }),
  )
}

const medianBy = (all: readonly Edited[], name: keyof Edited): number => median(all.map((edited) => edited[name]))

const editedRow = ({ tables, use, service, edited }: EditedUse): Row => ({
  service,
  use,
  tables,
  'first, ms CPU': figure(edited.loadMs),
  'after an edit, ms CPU': figure(edited.completionMs),
})

await withCleanup(async (later) => {
  const postgres = await startPostgres()
  later(postgres.stop)
  const root = await mkdtemp(join(tmpdir(), 'catalograph-codegen-'))
  later(() => rm(root, { recursive: true, force: true }))
  const made: Made[] = []
  const uses: CheckedUse[] = []
  const edited: EditedUse[] = []
  for (const tables of sizes) {
    const db = await createTables(postgres.major, tables)
    const folder = join(root, String(tables))
    made.push(await make(db.ownerUrl, tables, join(folder, 'db')))
    await db.drop()
    createApplication(folder)
    for (const use of useNames) {
      const all = Array.from({ length: rounds }, () => check(folder, use))
      uses.push({ tables, use, checked: medianOf(all) })
    }
    edited.push(...(await editAll(folder, tables)))
  }
  const byUse = useNames.flatMap((use) => uses.filter((found) => found.use === use))
  printTable('Codegen from a database', made.map(madeRow))
  printTable(`TypeScript, medians of ${rounds}`, byUse.map(checkedRow))
  printTable(`Editors, medians of ${rounds} sessions of ${edits} edits`, edited.map(editedRow))
  const figures = {
    ...Object.fromEntries(made.map((row) => [`${row.tables}.allMs`, row.schemaMs + row.filesMs + row.writeMs])),
    ...Object.fromEntries(made.map((row) => [`${row.tables}.bytes`, bytesOf(row.files)])),
    ...Object.fromEntries(
      uses.flatMap(({ tables, use, checked }) =>
        Object.entries(checked).map(([name, value]) => [`${tables}.${use}.${name}`, value]),
      ),
    ),
    ...Object.fromEntries(
      edited.flatMap(({ tables, use, service, edited: values }) =>
        Object.entries(values).map(([name, value]) => [`${tables}.${use}.${service}.${name}`, value]),
      ),
    ),
  }
  await writeRecord({ bench: 'codegen', figures }, options.text('json'))
})
