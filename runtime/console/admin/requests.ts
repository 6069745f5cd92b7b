import { json, type Outcome } from '../../auth/call/call.ts'
import { refuse } from '../../auth/protocol/errors.ts'
import type { KeptRequest } from '../../contract/observations.ts'
import { documentOf } from '../observe/request-log.ts'
import type { DocumentAnswer, RequestsAnswer, ShownRequest, AdminParts, OwnerCall } from './call.ts'

/** GET /requests */
export async function getRequests(_call: OwnerCall, { requests, slowMs }: AdminParts): Promise<Outcome> {
  const newestFirst = (await requests()).toSorted((a, b) => b.at - a.at)
  return json<RequestsAnswer>({ requests: newestFirst.map(shownRequest), slow_ms: slowMs })
}

const shownRequest = ({ requestId, at, document, ...request }: KeptRequest): ShownRequest => ({
  ...request,
  request_id: requestId,
  answered_at: new Date(at).toISOString(),
  has_document: document !== null,
})

/** GET /documents/:hash */
export async function getDocument({ params: { hash = '' } }: OwnerCall, { requests }: AdminParts): Promise<Outcome> {
  const document = await documentOf(await requests(), hash)
  if (document === null) throw refuse('not_found', 'No document of this hash is kept')
  return json<DocumentAnswer>({ document })
}
