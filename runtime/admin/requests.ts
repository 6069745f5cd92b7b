import { json, type Outcome } from '../auth/call/call.ts'
import { refuse } from '../auth/protocol/errors.ts'
import type { KeptRequest } from '../observe/request-log.ts'
import type { DocumentAnswer, RequestsAnswer, ShownRequest } from './answers.ts'
import type { AdminParts, OwnerCall } from './call.ts'

/** GET /requests */
export async function getRequests(_call: OwnerCall, { requests, slowMs }: AdminParts): Promise<Outcome> {
  return json<RequestsAnswer>({ requests: requests.requests().map(shown), slow_ms: slowMs })
}

const shown = ({ requestId, at, hasDocument, ...request }: KeptRequest): ShownRequest => ({
  ...request,
  request_id: requestId,
  answered_at: new Date(at).toISOString(),
  has_document: hasDocument,
})

/** GET /documents/:hash */
export async function getDocument({ params: { hash = '' } }: OwnerCall, { requests }: AdminParts): Promise<Outcome> {
  const document = requests.document(hash)
  if (document === null) throw refuse('not_found', 'This process does not keep a document of this hash')
  return json<DocumentAnswer>({ document })
}
