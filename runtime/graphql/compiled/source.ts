import type { Revision, RevisionSource } from '../../contract/revision.ts'
import { lookFor, versionOf, type Sight } from '../../db/check/fits.ts'
import type { Query } from '../../db/connect/session.ts'
import { DatabaseFailure } from '../../db/failures/failures.ts'
import { messageOf } from '../../lib/message-of.ts'
import { Hopeless } from '../../lib/retry.ts'
import type { Log } from '../../log/events.ts'
import { saysTheSame } from './documents.ts'
import type { DocumentNeeds, NeededColumn } from './format.ts'
import { readDocuments, writtenMark, type ReadDocuments } from './read.ts'

/**
 * Compiled documents as a server sees them: the newest of a folder, and which of them the database can answer. New artifacts
 * are picked up, and documents are compared with the schema anew whenever it changed.
 */
interface CompiledSourceOptions {
  readonly folder: string
  /** Runs statements as the login role. */
  readonly query: Query
  readonly log: Log
}

/** Artifacts, and what stood in the folder when they were read. */
interface Written {
  readonly mark: string
  readonly documents: ReadDocuments
  /** Why newer ones cannot be read. */
  readonly failure?: string
}

/**
 * @throws ArtifactFailure for artifacts that cannot be used. The source rejects with Hopeless at first, where the database is
 * not prepared, or cannot answer any of the documents.
 */
export function createCompiledSource({ folder, query, log }: CompiledSourceOptions): RevisionSource {
  let written: Written = { mark: writtenMark(folder), documents: readDocuments(folder) }
  let last: Revision | null = null
  const refresh = async (): Promise<Revision> => {
    const before = written
    written = newest(folder, before)
    const { documents, failure } = written
    // Requests check the version too: whoever asks without a reason need not have everything compared.
    if (last !== null && last.version !== null && written === before && last.version === (await versionOf(query)))
      return last
    const all = listed(documents.needs)
    const sight = await lookFor(query, all.columns, all.functions).catch(refuseUnprepared)
    const outdated = outdatedOf(documents.needs, all, sight)
    if (last === null) refuseForeign(documents, outdated)
    const made = revisionOf(documents, sight.version, [...outdated.keys()], failure)
    if (last !== null && saysTheSame(last, made)) return last
    const lost = last?.compiled?.outdated.join() ?? ''
    if (outdated.size > 0 && lost !== made.compiled?.outdated.join())
      log({ kind: 'documents-outdated', documents: outdated.size, missing: [...outdated.values()][0] ?? '' })
    last = made
    return made
  }
  let running: Promise<Revision> | null = null
  return () => {
    // Whoever asks while a look is under way may know of a later change.
    const asked = (running ?? Promise.resolve()).then(refresh, refresh)
    running = asked
    return asked
  }
}

function newest(folder: string, before: Written): Written {
  const mark = writtenMark(folder)
  if (mark === before.mark) return before
  try {
    return { mark, documents: readDocuments(folder) }
  } catch (error) {
    // They may be about to be written: the mark is looked at again.
    return { ...before, failure: messageOf(error) }
  }
}

/** The schema of what prepares a database, or a function of it. */
const notThere: ReadonlySet<string> = new Set(['3F', '42'])

function refuseUnprepared(error: unknown): never {
  if (error instanceof DatabaseFailure && notThere.has(error.sqlstate?.slice(0, 2) ?? ''))
    throw new Hopeless('the database is not prepared: catalograph prepare does it, or prints what an owner has to run')
  throw error
}

/** What all documents need, each once. */
interface Listed {
  readonly columns: readonly NeededColumn[]
  readonly functions: DocumentNeeds['functions']
}

function listed(needs: ReadDocuments['needs']): Listed {
  const columns = new Map<string, NeededColumn>()
  const functions = new Map<string, DocumentNeeds['functions'][number]>()
  for (const one of needs.values()) {
    for (const column of one.columns) columns.set(JSON.stringify(column), column)
    for (const fn of one.functions) functions.set(JSON.stringify(fn), fn)
  }
  return { columns: [...columns.values()], functions: [...functions.values()] }
}

/** By address, the documents that need something that is not there, and the first of what they miss. */
function outdatedOf(needs: ReadDocuments['needs'], all: Listed, sight: Sight): ReadonlyMap<string, string> {
  const missing = new Set([
    ...all.columns.filter((_, at) => sight.columns.has(at)).map((column) => JSON.stringify(column)),
    ...all.functions.filter((_, at) => sight.functions.has(at)).map((fn) => JSON.stringify(fn)),
  ])
  if (missing.size === 0) return new Map()
  return new Map(
    [...needs].flatMap(([address, { columns, functions }]) => {
      const lost = [...columns, ...functions].find((one) => missing.has(JSON.stringify(one)))
      return lost === undefined ? [] : [[address, sentenceOf(lost)] as const]
    }),
  )
}

function sentenceOf([schema, name, column, type]: NeededColumn | DocumentNeeds['functions'][number]): string {
  if (column === undefined) return `the function ${schema}.${name}`
  if (column === null) return `${schema}.${name}`
  return `${schema}.${name}.${column}${type === null || type === undefined ? '' : ` of type ${type}`}`
}

/** Artifacts of which the database can answer nothing are another one's. */
function refuseForeign({ needs, index }: ReadDocuments, outdated: ReadonlyMap<string, string>): void {
  const [missing] = outdated.values()
  if (missing === undefined || outdated.size < needs.size) return
  throw new Hopeless(
    `the artifacts (revision ${index.revision}) are of another database: none of their documents can be answered; the database lacks ${missing}`,
  )
}

function revisionOf(
  { id, index, files }: ReadDocuments,
  version: string | null,
  outdated: readonly string[],
  failure: string | undefined,
): Revision {
  return {
    id,
    version,
    manifest: { ...nothingServed, ...index.manifest },
    entities: [],
    functions: '',
    compiled: { files, outdated },
    ...(failure !== undefined && { failure }),
  }
}

/** Nothing of the API is known but its documents. */
export const nothingServed = {
  schemas: [],
  enums: [],
  entities: [],
  functions: [],
  validation: true,
  refusal: null,
} as const
