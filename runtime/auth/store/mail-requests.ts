import { statement, type RunStatement } from '../../db/pool/statements.ts'
import type { Client, Registration } from '../call/call.ts'
import type { Begun } from './throttles.ts'
import { defineAction, defineTest } from './define.ts'

/** catalograph_auth.mail_requests: answered requests for mails that are still to be made. */

export type MailRequestKind = 'recovery' | 'sign-in' | 'confirmation' | 'email-change'

export interface MailRequest {
  readonly kind: MailRequestKind
  readonly input: Registration
  readonly client: Client
}

export interface StoredRequest extends MailRequest {
  readonly id: string
  readonly begun: readonly Begun[]
}

const insert = statement<{ readonly id: string }>(
  'auth.mail-requests.insert',
  'insert into catalograph_auth.mail_requests (kind, request) values ($1, $2) returning id::text',
)

/**
 * Requests whose process has ended, because none is processed for so long, and deferred ones. After a longer wait the
 * person does not expect the mail any more.
 */
const take = statement<{ readonly id: string; readonly kind: MailRequestKind; readonly request: Kept }>(
  'auth.mail-requests.take',
  `update catalograph_auth.mail_requests set taken_at = now()
  where id in (
    select id from catalograph_auth.mail_requests
    where taken_at < now() - interval '1 minute' and created_at > now() - interval '15 minutes'
    order by id limit 20 for update skip locked
  )
  returning id::text, kind, request`,
)

/** Defers it, longer each time; false if it would be too late for the person. */
export const putOffMailRequest = defineTest<[id: string]>(
  'auth.mail-requests.put-off',
  `update catalograph_auth.mail_requests
  set taken_at = now() - interval '1 minute' + greatest(now() - created_at, interval '5 seconds')
  where id = $1 and created_at > now() - interval '7 minutes' returning 1`,
)

type Kept = Omit<StoredRequest, 'id' | 'kind'>

export const insertMailRequest = async (
  run: RunStatement,
  { kind, input, client, begun }: Omit<StoredRequest, 'id'>,
): Promise<string> => {
  const [row] = await run(insert, [kind, { input, client, begun } satisfies Kept])
  if (row === undefined) throw new Error('A request that was just kept is not there.')
  return row.id
}

export const deleteMailRequest = defineAction<[id: string]>(
  'auth.mail-requests.delete',
  'delete from catalograph_auth.mail_requests where id = $1',
)

export const takeMailRequests = async (run: RunStatement): Promise<readonly StoredRequest[]> =>
  (await run(take)).map(({ id, kind, request }) => ({ id, kind, ...request }))
