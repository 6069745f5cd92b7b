import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { signToken } from '../runtime/identity/jwt.ts'
import { createDatabase } from '../test/support/database.ts'
import { readDocuments, type GoldenDocument } from '../test/support/golden/documents.ts'
import { createAccess, startProduct } from './serve/subjects.ts'
import { withCleanup } from './support/cleanup.ts'
import { residentMb } from './support/cpu.ts'
import { httpRequest } from './support/http-client.ts'
import { saturate } from './support/load.ts'
import { readOptions } from './support/options.ts'
import { startPostgres } from './support/postgres.ts'
import { projectFolder, writeRecord } from './support/record.ts'
import { figure } from './support/statistics.ts'
import { printTable, type Row } from './support/table.ts'

/**
 * Memory of a server on the demo while its documents are requested, by all kinds of callers, every tenth time with a
 * new text, and while the schema changes repeatedly. The measure is the growth in the second half.
 *
 * --requests 100000 --changes 1000 --steps 10 --json FILE
 */
const options = readOptions()
const requests = options.number('requests', 100_000)
const changes = options.number('changes', 1_000)
const steps = options.number('steps', 10)

const demo = (name: string): Promise<string> => readFile(join(projectFolder, 'fixtures/demo', name), 'utf8')

/** One document for its caller; `mark` makes the text unique. */
const requestOf = async (
  { text, role, claims, variables }: GoldenDocument,
  access: { readonly secret: string; readonly apikey: string },
): Promise<(mark: number | null) => Buffer> => {
  const token = await signToken({ role, ...claims }, access.secret)
  const headers = { apikey: access.apikey, authorization: `Bearer ${token}` }
  const bytes = (query: string): Buffer => httpRequest({ path: '/graphql/v1', headers, body: { query, variables } })
  const known = bytes(text)
  return (mark) => (mark === null ? known : bytes(`${text}\n# ${mark}`))
}

await withCleanup(async (later) => {
  const postgres = await startPostgres()
  later(postgres.stop)
  const db = await createDatabase({ prepare: true })
  later(db.drop)
  for (const script of ['schema.sql', 'seed.sql']) await db.query(await demo(script))
  const access = await createAccess()
  const { server } = await startProduct(db, access)
  later(server.stop)
  const documents = await readDocuments(join(projectFolder, 'fixtures/demo/operations'))
  const asks = await Promise.all(documents.map((document) => requestOf(document, access)))

  let asked = 0
  const next = (): Buffer => {
    asked += 1
    const ask = asks[asked % asks.length]
    if (ask === undefined) throw new Error('The demo has no operations.')
    return ask(asked % 10 === 0 ? asked : null)
  }
  const rows: Row[] = []
  const resident: number[] = []
  const note = async (changed: number): Promise<void> => {
    resident.push(residentMb(server.pid))
    rows.push({ requests: asked, 'schema changes': changed, 'resident MB': figure(resident.at(-1) ?? Number.NaN) })
  }
  await note(0)
  let changed = 0
  for (let step = 1; step <= steps; step += 1) {
    const goal = (requests / steps) * step
    while (asked < goal) {
      const sample = await saturate({ port: server.port, connections: 8, ms: 100, next })
      if (sample.failed > 0)
        throw new Error(`${sample.failed} of ${sample.answered} requests were not answered with 200`)
      const due = Math.min(changes, Math.floor((asked / requests) * changes))
      for (; changed < due; changed += 1) {
        await db.query(
          changed % 2 === 0 ? 'alter table posts add column extra int' : 'alter table posts drop column extra',
        )
        await saturate({ port: server.port, connections: 1, ms: 1, next })
      }
    }
    await note(changed)
  }
  printTable('Memory of the server on the demo', rows)
  await writeRecord({ bench: 'memory', figures: { 'memory.residentMb': resident } }, options.text('json'))
})
