import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { compileCommand } from '../../../compiler/commands/compile.ts'
import { openDatabase } from '../../../runtime/db/pool/pool.ts'
import { documentsIn, findDocuments, readDocumentFile } from '../../../runtime/graphql/compiled/read-document.ts'
import { createCompiledService } from '../../../runtime/graphql/compiled/serve.ts'
import { createCompiledSource } from '../../../runtime/graphql/compiled/source.ts'
import { createHandler } from '../../../runtime/graphql/handler/handler.ts'
import { readArtifacts } from '../../../runtime/graphql/handler/read-artifacts.ts'
import { sha256Hex } from '../../../runtime/lib/text.ts'
import { runCommand } from '../command.ts'
import type { Random } from '../random.ts'
import type { Answer } from '../service.ts'
import { JWT_SECRET, keys } from '../while-served.ts'
import {
  countAnswer,
  either,
  has,
  inserting,
  isChanged,
  isEither,
  isOver,
  last,
  now,
  numberOf,
  possibleSince,
  reading,
  rest,
  type Asked,
  type Row,
  type Storm,
} from './storm.ts'
import type { State, Table } from './states.ts'

/**
 * Servers of compiled documents in a storm of schema changes. A document means what it meant when it was compiled: which column
 * its fields are is settled, and that the column is there, has its type and may be read is as of the request.
 */

/** The files of one compile. */
export interface Artifacts {
  readonly id: string
  readonly documents: ReadonlyMap<string, CompiledDocument>
}

interface CompiledDocument {
  readonly table: Table
  readonly asked: Asked
  /** States of the table that it may have been compiled for. */
  readonly compiledFor: readonly State[]
}

/** A folder into which documents are compiled again and again, oldest first. */
export interface ArtifactsFolder {
  readonly path: string
  readonly written: readonly Artifacts[]
  /** Compiles the possible requests to the present tables. Rejects where it fails for another reason than their change. */
  readonly compile: () => Promise<void>
  /** Resolves when no compile is under way. */
  readonly settled: () => Promise<unknown>
  readonly remove: () => Promise<void>
}

const documentsFor = (table: Table): readonly CompiledDocument[] => {
  const state = last(table)
  if (!state.exists || !state.granted) return []
  const extra = Object.keys(state.extra).map((n) => `c_${n}`)
  const all = [['x', 'y'], ...(extra.length === 0 ? [] : [['x', 'y', ...extra]])].flatMap((fields) => [
    reading(state.name, fields),
    inserting(state.name, fields, () => either),
  ])
  return all.map((asked) => ({ table, asked, compiledFor: [] }))
}

/** A document was named that the schema of the compile does not have. */
const changedMeanwhile = /: anon: (Cannot query field|Unknown type|Unknown argument|Field .* is not defined)/

export async function openArtifacts(url: string, tables: readonly Table[]): Promise<ArtifactsFolder> {
  const path = await mkdtemp(join(tmpdir(), 'catalograph-storm-'))
  const written: Artifacts[] = []
  let running: Promise<unknown> = Promise.resolve()
  const compile = async (): Promise<void> => {
    const began = now()
    const documents = tables.flatMap(documentsFor)
    if (documents.length === 0) return
    const file = join(path, 'documents.json')
    const texts = documents.map(({ asked: { query } }) => [sha256Hex(query), query])
    await writeFile(file, JSON.stringify(Object.fromEntries(texts)))
    const args = ['compile', '--documents', file, '--roles', 'anon', '--out', path]
    const { exitCode, noted } = await runCommand([compileCommand], args, { environment: { DATABASE_URL: url } })
    if (exitCode !== 0 && changedMeanwhile.test(noted)) return
    if (exitCode !== 0) throw new Error(noted)
    const compiled = documents.map(({ table, asked }) => {
      const states = possibleSince(table, began).map(({ state }) => state)
      return [
        asked.query,
        { table, asked, compiledFor: states.filter((one) => one.granted && has(one, asked)) },
      ] as const
    })
    written.push({ id: findDocuments(path).id, documents: new Map(compiled) })
  }
  return {
    path,
    written,
    compile: () => {
      const made = compile()
      running = made.catch(() => undefined)
      return made
    },
    settled: () => running,
    remove: () => rm(path, { recursive: true }),
  }
}

export interface CompiledServer {
  /** @param artifacts the id of those that it was answered by; null: unknown */
  readonly ask: (
    text: string,
    byHash: boolean,
  ) => Promise<{ readonly answer: Answer; readonly artifacts: string | null }>
  readonly stop: () => Promise<unknown> | void
}

const bodyOf = (text: string, byHash: boolean) =>
  byHash
    ? { query: null, extensions: { persistedQuery: { version: 1, sha256Hash: sha256Hex(text) } } }
    : { query: text, extensions: {} }

/** The service that `serve --only-compiled` starts for a folder. */
export function serveCompiled(url: string, { path }: ArtifactsFolder): CompiledServer {
  const database = openDatabase({ url, schemas: ['public'], poolSize: 4, statementTimeout: 10_000 })
  const source = createCompiledSource({ documents: documentsIn(path), query: database.query, log: () => undefined })
  const service = createCompiledService({ database, source }, readDocumentFile)
  return {
    ask: async (text, byHash) => {
      const { body, revision } = await service.serve(
        // The answer to a run of a stream names the artifacts.
        { ...bodyOf(text, byHash), operationName: null, variables: {}, queryOnly: false, live: true },
        { role: 'anon', claims: '{"role":"anon"}' },
      )
      return { answer: JSON.parse(body.toString()) as Answer, artifacts: revision ?? null }
    },
    stop: database.close,
  }
}

/** The library for compiled documents, which keeps the artifacts that it was made with. */
export function handleCompiled(connectionString: string, { path }: ArtifactsFolder): CompiledServer {
  const connect = async (): Promise<pg.Client> => {
    const client = new pg.Client({ connectionString })
    await client.connect()
    return client
  }
  const handler = createHandler(readArtifacts(path), { connect, jwtSecret: JWT_SECRET, connections: 4 })
  const { id } = findDocuments(path)
  return {
    ask: async (text, byHash) => {
      const headers = { apikey: keys.anon, 'content-type': 'application/json' }
      const body = JSON.stringify(bodyOf(text, byHash))
      const response = await handler(new Request('http://handler/', { method: 'POST', headers, body }))
      return { answer: (await response.json()) as Answer, artifacts: id }
    },
    stop: handler.close,
  }
}

export async function runCompiler(folder: ArtifactsFolder, storm: Storm, random: Random): Promise<void> {
  while (!isOver(storm)) {
    await rest(storm, random(40 * storm.paceMs))
    await folder.compile()
  }
}

const someOf = <T>(all: readonly T[], random: Random): T | undefined => all[random(all.length)]

export async function askCompiled(
  server: CompiledServer,
  folder: ArtifactsFolder,
  storm: Storm,
  random: Random,
): Promise<void> {
  /** The place of the newest artifacts that it is known to have had. */
  let known = 0
  const judged: Promise<void>[] = []
  while (!isOver(storm)) {
    const from = random(3) > 0 ? folder.written[known] : someOf(folder.written, random)
    const document = someOf([...(from?.documents.values() ?? [])], random)
    if (document === undefined) throw new Error('nothing was compiled')
    const [sent, before, oldest] = [now(), storm.commits.count, known]
    const { table, asked } = document
    const { answer, artifacts } = await server.ask(asked.query, random(2) === 0)
    const code = countAnswer(storm, answer, 'compiled ')
    const states = possibleSince(table, sent).map(({ state }) => state)
    const isOthers = isChanged(storm, before, states.length)
    // It may have had those that are about to be written.
    const judging = folder.settled().then(() => {
      const place = folder.written.findIndex(({ id }) => id === artifacts)
      known = Math.max(known, place)
      const candidates = artifacts === null ? folder.written.slice(oldest) : folder.written.slice(place, place + 1)
      const problem = judge({ code, answer, asked, states, candidates, isOthers })
      if (problem === null) return
      const then = candidates.map(({ documents }) => documents.get(asked.query)?.compiledFor)
      storm.problems.push(
        `compiled: ${problem}: ${asked.query} -> ${JSON.stringify({ answer, place, states, then, of: table.commits.slice(-3) })}`,
      )
    })
    judged.push(judging)
    // An answer that needs no time leaves others none.
    await sleep(0)
  }
  await Promise.all(judged)
}

interface Judged {
  readonly code: string
  readonly answer: Answer
  readonly asked: Asked
  /** In which the table may have been. */
  readonly states: readonly State[]
  /** By which it may have been answered. */
  readonly candidates: readonly Artifacts[]
  /** The schema changed in the meantime. */
  readonly isOthers: boolean
}

function judge({ code, answer, asked, states, candidates, isOthers }: Judged): string | null {
  const found = candidates.map(({ documents }) => documents.get(asked.query))
  const pairs = found.flatMap((document) =>
    (document?.compiledFor ?? []).flatMap((then) => states.map((state) => ({ then, state }))),
  )
  const fitting = pairs.filter(({ then, state }) => fits(asked, then, state))
  switch (code) {
    case 'ok': {
      const granted = fitting.filter(({ state }) => state.granted)
      if (granted.length === 0) return 'answered by a schema that was gone'
      const rows = asked.rows(answer.data)
      const isRight = granted.some(({ then, state }) => rows.every((row) => isOf(row, then.swapped === state.swapped)))
      return isRight && rows.length > 0 ? null : 'a value of another column'
    }
    case 'DOCUMENT_OUTDATED':
      return fitting.length < pairs.length ? null : 'outdated, and the schema has all that it names'
    case 'DATABASE_REFUSED':
      return answer.errors?.[0]?.extensions.sqlstate === '42501' && fitting.some(({ state }) => !state.granted)
        ? null
        : 'refused what anybody may do'
    case 'DOCUMENT_NOT_COMPILED':
    case 'PERSISTED_QUERY_NOT_FOUND':
      return found.includes(undefined) ? null : 'all artifacts have the document'
    case 'SCHEMA_CHANGED':
      return isOthers ? null : 'a change that nobody made'
    default:
      return 'an error that says nothing about the schema'
  }
}

/** Whether all that a document names is there as it was. */
const fits = (asked: Asked, then: State, state: State): boolean =>
  has(state, asked) &&
  asked.fields.every((field) => numberOf(field) === null || then.extra[field.slice(2)] === state.extra[field.slice(2)])

/** @param isSame the columns have the names in the API that they had when the document was compiled */
const isOf = (row: Row, isSame: boolean): boolean => {
  const expected = isEither(row) ? row : isSame ? { x: 'x', y: 'y' } : { x: 'y', y: 'x' }
  return Object.entries(row).every(([field, value]) => value === (numberOf(field) ?? expected[field as 'x' | 'y']))
}
