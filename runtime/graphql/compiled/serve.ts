import type { Caller, RequestContext } from '../../contract/execution.ts'
import type { Revision, RevisionSource } from '../../contract/revision.ts'
import { refuseEnded } from '../../db/pool/waiting.ts'
import { createPrivileges } from '../../engine/privileges.ts'
import { sha256Hex } from '../../lib/sha256.ts'
import { governingList, notListed, sentHash } from '../allowlist/admission.ts'
import { behindList } from '../allowlist/listed.ts'
import type { Ready } from '../apart/packing.ts'
import { readBody } from '../http/request.ts'
import { introspects } from '../operation/introspects.ts'
import { checkMethod } from '../prepared/method.ts'
import { refuse } from '../protocol/failures.ts'
import type { GraphqlRequest, GraphqlResponse } from '../protocol/types.ts'
import { createCell, type CellOptions, type Running } from '../run/cell.ts'
import { createEstimates, type Estimates } from '../run/cost-limit.ts'
import { checkEstimate } from '../run/check-estimate.ts'
import { exchangeOf } from '../run/exchange.ts'
import { againOnNewerSchema, refusedByNow } from '../run/on-schema-of-now.ts'
import { toResponse } from '../run/response.ts'
import { createTenants, hasTenants, type Tenants } from '../run/tenants.ts'
import { beginTurn, type Turn as TurnOn } from '../run/turn.ts'
import type { GraphqlService, ServiceParts, WatchAnswer } from '../serve.ts'
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
 * How a request is answered where only compiled documents are: find, read the variables, bind, run, respond. Nothing is parsed,
 * validated, planned or written.
 */

interface Loaded extends Running {
  readonly revision: Revision
  readonly engine: Running['engine'] & Pick<Revision, 'manifest'>
  readonly documents: KnownDocuments
  readonly estimates: Estimates
}

type Turn = TurnOn<Loaded>

/**
 * @param apart reads many variables; null: they are read here
 * @param ofCell new artifacts may come without a change of the database, unless it says otherwise
 */
export function createCompiledService(
  { database, source, now = Date.now }: ServiceParts,
  readFile: ReadDocumentFile,
  apart: ReadApart | null = null,
  ofCell: CellOptions = { changes: true },
): GraphqlService {
  const cell = createCell(createLoad(source, readFile, now), now, ofCell)
  const tenants = createTenants()
  const inTurn = <T>(
    request: GraphqlRequest,
    caller: Caller,
    context: RequestContext | undefined,
    work: (found: Found) => Promise<T>,
  ): Promise<T | GraphqlResponse> =>
    againOnNewerSchema(
      cell,
      async (isFirst) => beginTurn(database, await cell.current(), request, caller, context, isFirst),
      async (turn) => work(await find(turn)),
    )
  return {
    serve: (request, caller, context) => inTurn(request, caller, context, (found) => answer(found, apart, tenants)),
    watch: async (request, caller, context) => {
      const found = await inTurn({ ...request, live: true }, caller, context, (one) => watched(one, apart))
      return 'outcome' in found ? { kind: 'refused', response: found } : found
    },
    describe: () => Promise.resolve(null),
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
      standsIn: failure !== undefined,
    }
  }
}

/** The operation that is asked for, and the turn in which it runs. */
interface Found {
  readonly turn: Turn
  /** Of the document. */
  readonly hash: string
  readonly operation: KnownOperation
}

/** @throws Refusal for what was not compiled, or cannot be answered by the schema of now */
async function find(turn: Turn): Promise<Found> {
  const { request, loaded, asker } = turn
  refuseExtensions(request)
  const { role } = asker.caller
  const hash = hashOf(request)
  const document = readable(() => loaded.documents.find(role, hash))
  if (document === undefined) throw notCompiled(request, hash)
  const operation = document.operation(request.operationName)
  if (document.outdated) await refusedByNow(turn, refuseOutdated)
  checkMethod(operation, request)
  return { turn: listedTurn(turn, hash, document.text), hash, operation }
}

function refuseExtensions({ extensions }: GraphqlRequest): void {
  const asked = ['explain', 'schemaReport'].find((name) => extensions[name] === true)
  if (asked !== undefined)
    throw refuse('ONLY_COMPILED', `This server answers compiled documents only, without the extension "${asked}".`)
}

function refuseOutdated(): never {
  throw refuse(
    'DOCUMENT_OUTDATED',
    'The database schema has changed so that the document cannot be answered until it is compiled again.',
  )
}

/** @throws Refusal for a hash that is not that of the text beside it */
function hashOf(request: GraphqlRequest): string {
  const sent = sentHash(request)
  if (request.query === null) return sent ?? ''
  const hash = sha256Hex(request.query)
  if (sent === null || sent === hash) return hash
  throw refuse('PERSISTED_QUERY_MISMATCH', 'The hash that was sent is not that of the document.')
}

/** Clients that know hashes send the text after the first of these codes. */
function notCompiled({ query }: GraphqlRequest, hash: string): Error {
  if (query === null) return refuse('PERSISTED_QUERY_NOT_FOUND', 'PersistedQueryNotFound')
  if (introspects(query))
    return refuse('ONLY_COMPILED', 'This server answers compiled documents only, without introspection.')
  return refuse(
    'DOCUMENT_NOT_COMPILED',
    `The document is not among those that were compiled for the role; its hash is ${hash}.`,
  )
}

/** What a list governs runs only where it is listed, too. */
function listedTurn(turn: Turn, hash: string, text: string): Turn {
  const { loaded, asker, run, read, request } = turn
  const list = governingList(loaded.engine.manifest, asker.caller.role)
  if (list === undefined) return turn
  const hashOnly = request.query === null
  if (list.table === null) throw notListed({ hash, hashOnly })
  const admission = { table: list.table, hash, hashOnly }
  const behind = behindList(run, admission, text)
  return { ...turn, run: behind, read: read === run ? behind : behindList(read, admission, text) }
}

/** @param watches see readyFor. @throws Refusal for variables that cannot be used */
function prepared(found: Found, apart: ReadApart | null, watches: boolean): Ready | Promise<Ready> {
  const { turn, hash, operation } = found
  const { unread, variables, operationName } = turn.request
  if (unread === undefined) return readyFor(operation, variables, watches)
  if (apart === null) return readyFor(operation, readBody(unread).variables, watches)
  const { revision } = turn.loaded
  const { role, claims } = turn.asker.caller
  const { folder = '', addresses } = revision.compiled ?? {}
  const [document = '', types = ''] = [addresses?.roles[role]?.[hash], addresses?.types[role]]
  const question = { folder, role, hash, addresses: { document, types }, operationName, unread }
  return apart(revision, question, turn.context?.party ?? claims, () => refuseEnded(turn.context))
}

async function answer(found: Found, apart: ReadApart | null, tenants: Tenants): Promise<GraphqlResponse> {
  const { turn } = found
  const ready = await prepared(found, apart, false)
  turn.outline = ready
  const timeline = turn.context?.timeline ?? null
  if (timeline !== null) timeline.prepared = performance.now()
  const placed = hasTenants(ready.bound) ? await tenants.place(turn, ready.bound) : ready.bound
  await checkEstimate(turn, placed)
  const rows = await (ready.writes ? turn.run : turn.read)(exchangeOf(turn.asker, !ready.writes, placed))
  const response = toResponse(ready, rows)
  return turn.request.live === true ? { ...response, revision: turn.loaded.engine.revision } : response
}

async function watched(found: Found, apart: ReadApart | null): Promise<Exclude<WatchAnswer, { kind: 'refused' }>> {
  const { interests } = await prepared(found, apart, true)
  return interests === undefined
    ? { kind: 'once' }
    : { kind: 'watch', interests, revision: found.turn.loaded.engine.revision }
}
