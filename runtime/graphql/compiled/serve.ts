import type { Revision, RevisionSource } from '../../contract/artifact.ts'
import { refuseEnded } from '../../db/pool/waiting.ts'
import { createPrivileges } from '../../engine/privileges.ts'
import { sha256Hex } from '../../lib/text.ts'
import { governingList, notListed, sentHash } from '../allowlist/admission.ts'
import { runWhileListed } from '../allowlist/listed.ts'
import { readBody } from '../http/request.ts'
import { introspects } from '../operation/introspects.ts'
import { refuse } from '../protocol/failures.ts'
import type { GraphqlRequest } from '../protocol/request-and-answer.ts'
import {
  createCell,
  type CellOptions,
  type Running,
  createRequestState,
  checkMethod,
  type Ready,
  type RequestState,
} from '../run/request-state.ts'
import { createEstimates, type Estimates } from '../run/cost-limit.ts'
import { createExecution, createPipeline, exchange, recheckBeforeRefusal, type PipelineStage } from '../run/pipeline.ts'
import type { GraphqlService, ServiceParts } from '../serve.ts'
import type { ReadApart } from './apart.ts'
import {
  createKnownDocuments,
  readable,
  saysTheSame,
  type KnownDocuments,
  type KnownOperation,
  type ReadDocumentFile,
} from './documents.ts'
import { readyFor } from './ready.ts'

/**
 * Answers requests from compiled documents only: find, read the variables, bind, run, respond. Nothing is parsed,
 * validated or planned, and no SQL is written.
 */

interface Loaded extends Running {
  readonly revision: Revision
  readonly engine: Running['engine'] & Pick<Revision, 'manifest'>
  readonly documents: KnownDocuments
  readonly estimates: Estimates
}

type DocumentRequestState = RequestState<Loaded>

/**
 * @param apart reads many variables; null: they are read on this thread
 * @param ofCell new artifacts may come without a change of the database, unless false
 */
export function createCompiledService(
  { database, source, now = Date.now, failed }: ServiceParts,
  readFile: ReadDocumentFile,
  apart: ReadApart | null = null,
  ofCell: CellOptions<Loaded> = { changes: true },
): GraphqlService {
  const cell = createCell(createLoad(source, readFile, now), now, ofCell)
  const executionOf = createExecution<DocumentRequestState>()
  const document = [prepare(apart)]
  const { serve, watch } = createPipeline<Loaded, DocumentRequestState>({
    cell,
    load: cell.current,
    look: cell.current,
    begin: (...attempt) => createRequestState(database, ...attempt),
    stagesOf: (loaded) => ({
      admission: [refuseExtensions],
      document,
      execution: executionOf(loaded, exchange),
      afterwards: null,
    }),
    failed,
  })
  return {
    serve,
    watch,
    describe: () => Promise.resolve(null),
    report: () => Promise.resolve(null),
    explain: serve,
    summary: () => Promise.resolve(null),
    caches: () => null,
  }
}

function createLoad(
  source: RevisionSource,
  readFile: ReadDocumentFile,
  now: () => number,
): (before: Loaded | null) => Promise<Loaded> {
  return async (before) => {
    const revision = await source()
    if (before !== null && saysTheSame(before.revision, revision)) return before
    const { id, version, manifest, compiled, failure } = revision
    if (compiled === undefined) throw new Error('the source hands over no compiled documents')
    return {
      revision,
      engine: { revision: id, version, manifest, privileges: createPrivileges(manifest) },
      documents: createKnownDocuments(compiled, readFile),
      estimates: createEstimates(now),
      isFallback: failure !== undefined,
    }
  }
}

/** Extensions of answers that only documents as text have. */
const textOnly = ['explain', 'schemaReport']

function refuseExtensions({ request: { extensions } }: DocumentRequestState): void {
  const asked = textOnly.find((name) => extensions[name] === true)
  if (asked !== undefined)
    throw refuse('ONLY_COMPILED', `This server answers compiled documents only, without the extension "${asked}".`)
}

/**
 * Finds the operation, reads the variables and binds them.
 * @throws Refusal for an operation that was not compiled or cannot be answered by the current schema, and for variables
 * that cannot be used
 */
const prepare =
  (apart: ReadApart | null): PipelineStage<DocumentRequestState> =>
  async (state) => {
    const { request, loaded, exchangeContext } = state
    const hash = hashOf(request)
    const document = readable(() => loaded.documents.find(exchangeContext.caller.role, hash))
    if (document === undefined) throw notCompiled(request, hash)
    const operation = document.operation(request.operationName)
    if (document.outdated) await recheckBeforeRefusal(refuseOutdated)(state)
    checkMethod(operation, request)
    obeyList(state, hash, document.text)
    state.ready = await readyByHash(state, hash, operation, apart)
  }

function refuseOutdated(): never {
  throw refuse(
    'DOCUMENT_OUTDATED',
    'The database schema has changed so that the document cannot be answered until it is compiled again.',
  )
}

/** @throws Refusal for a hash that does not match the text beside it */
function hashOf(request: GraphqlRequest): string {
  const sent = sentHash(request)
  if (request.query === null) return sent ?? ''
  const hash = sha256Hex(request.query)
  if (sent === null || sent === hash) return hash
  throw refuse('PERSISTED_QUERY_MISMATCH', 'The hash that was sent is not that of the document.')
}

/** Clients of persisted queries send the text after the first of these codes. */
function notCompiled({ query }: GraphqlRequest, hash: string): Error {
  if (query === null) return refuse('PERSISTED_QUERY_NOT_FOUND', 'PersistedQueryNotFound')
  if (introspects(query))
    return refuse('ONLY_COMPILED', 'This server answers compiled documents only, without introspection.')
  return refuse(
    'DOCUMENT_NOT_COMPILED',
    `The document is not among those that were compiled for the role; its hash is ${hash}.`,
  )
}

/** A role with an allow-list also needs its documents to be listed. */
function obeyList(state: DocumentRequestState, hash: string, text: string): void {
  const { loaded, exchangeContext, request } = state
  const list = governingList(loaded.engine.manifest, exchangeContext.caller.role)
  if (list === undefined) return
  const hashOnly = request.query === null
  if (list.table === null) throw notListed({ hash, hashOnly })
  runWhileListed(state, { table: list.table, hash, hashOnly }, text)
}

function readyByHash(
  { request, loaded: { revision }, exchangeContext, context, watches }: DocumentRequestState,
  hash: string,
  operation: KnownOperation,
  apart: ReadApart | null,
): Ready | Promise<Ready> {
  const { unread, variables, operationName } = request
  if (unread === undefined) return readyFor(operation, variables, watches)
  if (apart === null) return readyFor(operation, readBody(unread).variables, watches)
  const { role, claims } = exchangeContext.caller
  const { folder = '', addresses } = revision.compiled ?? {}
  const [document = '', types = ''] = [addresses?.roles[role]?.[hash], addresses?.types[role]]
  const question = { folder, role, hash, addresses: { document, types }, operationName, unread }
  return apart(revision, question, context?.party ?? claims, () => refuseEnded(context))
}
