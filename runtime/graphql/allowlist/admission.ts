import type { Manifest } from '../../contract/manifest.ts'
import type { AllowlistFacts } from '../../contract/guards.ts'
import { sha256Hex } from '../../lib/text.ts'
import { refuse, type Refusal } from '../protocol/failures.ts'
import type { GraphqlRequest } from '../protocol/request-and-answer.ts'
import { isJsonObject } from '../../lib/json.ts'

export type ListTable = NonNullable<AllowlistFacts['table']>

/**
 * Whether a request must prove that its document is listed (spec/graphql.md 17, `allowlist`), and the key of the
 * look-up. Nothing of a document is read before it is known to be listed: for a role with a list, all other texts are
 * equal.
 */
export interface Admission {
  readonly table: ListTable
  /** SHA-256 of the document's UTF-8 text in lower-case hex. */
  readonly hash: string
  /** True when the request holds no text. */
  readonly hashOnly: boolean
}

/**
 * Null: the request's own text runs without a check.
 * @throws Refusal for a hash that does not match its document, and if no list exists to look it up in
 */
export function admit(manifest: Manifest, request: GraphqlRequest, role: string): Admission | null {
  const governing = governingList(manifest, role)
  const list = hashListOf(manifest, role)
  const sent = sentHash(request)
  if (request.query === null) {
    if (list === undefined) throw refuse('PERSISTED_QUERY_NOT_SUPPORTED', 'PersistedQueryNotSupported')
    return listedIn(list, sent ?? '', true)
  }
  if (list === undefined) return null
  // The hash beside a text is checked for every role; the list is consulted for the roles that it governs.
  const hash = governing === undefined && sent === null ? null : sha256Hex(request.query)
  if (sent !== null && sent !== hash) {
    throw refuse('PERSISTED_QUERY_MISMATCH', 'The hash that was sent is not that of the document.')
  }
  return governing === undefined || hash === null ? null : listedIn(governing, hash, false)
}

type Lists = Pick<Manifest, 'allowlists'>

/** The list whose documents are the only ones that the role may run; undefined: there is no such list. */
export const governingList = ({ allowlists = [] }: Lists, role: string): AllowlistFacts | undefined =>
  allowlists.find(({ roles }) => roles.includes(role))

/** The list for the role's hashes: a role without a governing list uses the first one. */
export const hashListOf = (lists: Lists, role: string): AllowlistFacts | undefined =>
  governingList(lists, role) ?? lists.allowlists?.[0]

function listedIn({ table }: AllowlistFacts, hash: string, hashOnly: boolean): Admission {
  if (table === null) throw notListed({ hash, hashOnly })
  return { table, hash, hashOnly }
}

/** The hash that a request sends, beside a text or instead of one. */
export function sentHash({ extensions }: GraphqlRequest): string | null {
  const persisted = extensions['persistedQuery']
  const hash = isJsonObject(persisted) ? persisted['sha256Hash'] : undefined
  return typeof hash === 'string' ? hash.toLowerCase() : null
}

/** The refusal of a document names its hash, so that the owner can list it. */
export const notListed = ({ hash, hashOnly }: Pick<Admission, 'hash' | 'hashOnly'>): Refusal =>
  hashOnly
    ? refuse('PERSISTED_QUERY_NOT_FOUND', 'PersistedQueryNotFound')
    : refuse('DOCUMENT_NOT_LISTED', `The document is not on the list of those that may run; its hash is ${hash}.`)
