import { join } from 'node:path'
import { isLosslessNumber, parse } from 'lossless-json'
import pg from 'pg'
import { localDisk } from '../../../compiler/emit/disk.ts'
import { dump } from '../../../compiler/catalog/diagnostics/dump.ts'
import { compileDocuments } from '../../../compiler/commands/compiled/compile-documents.ts'
import type { BoundStatement } from '../../../runtime/contract/execution.ts'
import type { Revision } from '../../../runtime/contract/artifact.ts'
import { openDatabase, type Database } from '../../../runtime/db/pool/pool.ts'
import { createEngine } from '../../../compiler/additions/engine.ts'
import type { Engine } from '../../../runtime/engine/engine.ts'
import { readVariables } from '../../../runtime/graphql/prepared/document.ts'
import { createHandler } from '../../../runtime/graphql/handler/handler.ts'
import { signToken } from '../../../runtime/identity/jwt.ts'
import { toOperation } from '../../../runtime/graphql/operation/operation.ts'
import { toPlan } from '../../../runtime/graphql/plan/plan.ts'
import { createService } from '../../../compiler/additions/service.ts'
import type { GraphqlResponse } from '../../../runtime/graphql/protocol/request-and-answer.ts'
import { examplesFor, serviceOf } from '../compiled-alone.ts'
import type { TestDatabase } from '../database.ts'
import { compactJson } from './compact.ts'
import { readDocuments, type GoldenDocument } from './documents.ts'
import type { KeptFiles } from './kept-files.ts'
import type { Reader, Readers } from './reader.ts'
import { apart } from '../service.ts'
import { statementsText } from './sql-text.ts'

/**
 * The second river of a case: each document of its operations/ through plan, statements and answer, on the rows of its
 * data.sql and nothing else.
 * @param readers the reader in another language, which answers, too; null: it does not
 * @param compile compiles the documents; it may have done so before, on another major
 */
export async function operationStages(
  db: TestDatabase,
  revision: Revision,
  folder: string,
  readers: Readers | null,
  compile: CompileCase,
): Promise<KeptFiles> {
  const documents = await readDocuments(join(folder, 'operations'))
  const data = (await localDisk.read(join(folder, 'data.sql'))) ?? ''
  const database = openDatabase({ url: db.url, schemas: ['public'], poolSize: 1 })
  const engine = createEngine(revision)
  const compiled = openCase(db, database, engine, documents, readers, compile)
  const ask = openAsk(database, revision)
  const files: (readonly [string, string])[] = []
  const reset = (): Promise<unknown> => db.query(`${truncateAll};\n${data}`)
  try {
    await reset()
    for (const document of documents) {
      // Queries leave the rows as they are.
      const undo = writes(document) ? reset : () => Promise.resolve()
      const asked = await ask(document)
      await undo()
      await demandSameCompiled(compiled, document, asked.response, undo)
      await undo()
      const stages = stagesOf(engine, document, asked)
      const path = `operations/${document.name}`
      files.push(...Object.entries(stages).map(([stage, text]) => [`${path}.${stage}`, text] as const))
    }
  } finally {
    compiled.close()
    await database.close()
  }
  return Object.fromEntries(files)
}

const writes = ({ text }: GoldenDocument): boolean => /^mutation\b/m.test(text)

const truncateAll = `do $$
  declare tables text := (
    select string_agg(oid::regclass::text, ', ') from pg_class
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')
  );
  begin
    if tables is not null then
      execute 'truncate ' || tables || ' restart identity cascade';
    end if;
  end
$$`

interface Asked {
  readonly response: GraphqlResponse
  /** Null when nothing was run: the document was refused before. */
  readonly statements: readonly BoundStatement[] | null
}

/** The documents of a case as they are answered where nothing but they is there. */
interface CompiledCase {
  /** The body of the answer; null: of a document that cannot be compiled. */
  readonly ask: (document: GoldenDocument) => Promise<string | null>
  /** The same by the reader in another language. Null: there is none, or it was not asked for. */
  readonly reader: Reader | null
  readonly close: () => void
}

const jwtSecret = 'a secret that has more than thirty-two characters'

type CompileCase = (engine: Engine, documents: readonly GoldenDocument[]) => ReturnType<typeof compileDocuments>

const compileCase: CompileCase = (engine, documents) => {
  const roles = [...new Set(documents.map(({ role }) => role))]
  const given = documents.map(({ name, text, role, variables }) => {
    return { source: name, text, roles: [role], examples: { all: examplesFor(variables) } }
  })
  return compileDocuments(engine, roles, given)
}

/** For the documents of one case: what a revision becomes is the same on each major. */
export const compileOnce = (): CompileCase => {
  const known = new Map<string, ReturnType<CompileCase>>()
  return (engine, documents) => {
    const made = known.get(engine.revision) ?? compileCase(engine, documents)
    known.set(engine.revision, made)
    return made
  }
}

/** By the handler, on the database as it is; streams, which it refuses, by what it is made of. */
function openCase(
  { url }: TestDatabase,
  { run }: Database,
  engine: Engine,
  documents: readonly GoldenDocument[],
  readers: Readers | null,
  compile: CompileCase,
): CompiledCase {
  // Of what a server of compiled documents does not have.
  const plain = documents.filter(({ extensions }) => Object.keys(extensions).length === 0)
  const { files, faults } = compile(engine, plain)
  const able = plain.filter(({ name }) => !faults.some(({ source }) => source === name))
  const handler = createHandler(files, { connect: () => connectTo(url), jwtSecret, connections: 1 })
  const service = serviceOf(run, engine, files)
  const watched = async ({ text, role, variables, claims, extensions }: GoldenDocument): Promise<string> => {
    const request = { query: text, operationName: null, variables, extensions, queryOnly: false, live: true }
    const { body } = await service.serve(request, { role, claims: JSON.stringify({ role, ...claims }) })
    return body.toString()
  }
  const handled = async ({ text, role, variables, claims }: GoldenDocument): Promise<string> => {
    const headers = { apikey: signToken({ role, ...claims }, jwtSecret), 'content-type': 'application/json' }
    const body = JSON.stringify({ query: text, variables })
    return (await handler(new Request('http://localhost/', { method: 'POST', headers, body }))).text()
  }
  const reader = able.length > 0 ? (readers?.open(files, url) ?? null) : null
  return {
    ask: async (document) => {
      if (!able.includes(document)) return null
      return /^subscription\b/m.test(document.text) ? watched(document) : handled(document)
    },
    reader,
    close: () => {
      handler.close()
      reader?.close()
    },
  }
}

const connectTo = async (connectionString: string): Promise<pg.Client> => {
  const client = new pg.Client({ connectionString })
  await client.connect()
  return client
}

/** Law: a document that can be compiled is answered alike, by ourselves and by anyone who reads the artifacts. */
async function demandSameCompiled(
  { ask, reader }: CompiledCase,
  document: GoldenDocument,
  { outcome, body }: GraphqlResponse,
  undo: () => Promise<unknown>,
): Promise<void> {
  const compiled = await ask(document)
  if (compiled === null) return
  const expected = body.toString()
  if (compiled !== expected) throw new Error(`${document.name} is answered otherwise where it is compiled: ${compiled}`)
  if (reader === null) return
  await undo()
  const read = await reader.ask(document)
  // Refusals by the database have the words of a server.
  const isSame = 'body' in read ? read.body === expected : outcome !== 'ok'
  if (!isSame) throw new Error(`${document.name} is answered otherwise by the reader: ${JSON.stringify(read)}`)
}

type Ask = (document: GoldenDocument) => Promise<Asked>

function openService({ run }: Database, revision: Revision): Ask {
  let sent: BoundStatement[] = []
  const service = createService({
    database: {
      run: (exchange) => {
        sent.push(...exchange.statements)
        return run(exchange)
      },
    },
    source: () => Promise.resolve(revision),
    apart,
  })
  return async ({ text, role, variables, claims, extensions }) => {
    sent = []
    const response = await service.serve(
      { query: text, operationName: null, variables, extensions, queryOnly: false, live: true },
      { role, claims: JSON.stringify({ role, ...claims }) },
    )
    return { response, statements: sent.length > 0 || response.outcome === 'ok' ? [...sent] : null }
  }
}

/** A service with a list prepares ahead, which may run after the request: each document has one of its own. */
const openAsk = (database: Database, revision: Revision): Ask =>
  revision.manifest.allowlists === undefined
    ? openService(database, revision)
    : (document) => openService(database, revision)(document)

function stagesOf(engine: Engine, document: GoldenDocument, { response, statements }: Asked): KeptFiles {
  // Whatever the answer's numbers are, their digits stay as they came.
  const answer = { 'answer.json': compactJson(withoutPlans(parse(response.body.toString())), digitsKept) }
  if (statements === null) return answer
  return { ...answer, 'plan.json': planText(engine, document), 'statements.sql': statementsText(statements) }
}

const digitsKept = (value: unknown): string | undefined =>
  isLosslessNumber(value)
    ? value.toString()
    : typeof value !== 'object' || value === null
      ? JSON.stringify(value)
      : undefined

/** Plans are Postgres' own, and of its version. */
const withoutPlans = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withoutPlans)
  if (typeof value !== 'object' || value === null || isLosslessNumber(value)) return value
  if ('statement' in value && 'plan' in value) return { ...value, plan: '...' }
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withoutPlans(item)]))
}

function planText(engine: Engine, { text, role, variables }: GoldenDocument): string {
  const view = engine.view(role)
  const operation = toOperation(view, text, null)
  return dump(withoutFacts(toPlan(view, operation, readVariables(view, operation)(variables))))
}

/** The plan alone: ids in the place of what the manifest says of entities, and of relations the columns that join. */
function withoutFacts(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutFacts)
  if (typeof value === 'bigint') return String(value)
  if (typeof value !== 'object' || value === null) return value
  if ('id' in value && 'grants' in value) return value.id
  if ('local' in value && 'foreign' in value) return { local: value.local, foreign: value.foreign }
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withoutFacts(item)]))
}
