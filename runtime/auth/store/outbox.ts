import { statement, type RunStatement } from '../../db/pool/statements.ts'
import { defineAction, defineList } from './define.ts'

/** catalograph_auth.outbox and accepted_mails. */

const insert = statement<{ readonly id: string }>(
  'auth.outbox.insert',
  `insert into catalograph_auth.outbox (kind, recipient, subject, html) values ($1, $2, $3, $4) returning id::text`,
)

/** Serializes the transactions that count; the number is ours alone. */
const lockCount = statement<object>('auth.outbox.lock-count', 'select pg_advisory_xact_lock(7216490811334501)')

/** Mails of the last hour that were accepted, and those in transit or promised, except one. */
const count = statement<{ readonly n: number }>(
  'auth.outbox.count',
  `select ((select count(*) from catalograph_auth.accepted_mails where accepted_at > now() - interval '1 hour')
    + (select count(*) from catalograph_auth.outbox
      where accepted_at is null and created_at > now() - interval '15 seconds')
    + (select count(*) from catalograph_auth.mail_requests
      where id is distinct from $1::bigint and created_at > now() - interval '15 seconds'))::int as n`,
)

export interface KeptMail {
  readonly id: string
  readonly kind: string
  readonly recipient: string
  readonly subject: string
  readonly html: string
  readonly created_at: string
}

export type NewMail = Omit<KeptMail, 'id' | 'created_at'>

export const insertMail = async (run: RunStatement, mail: NewMail): Promise<string> => {
  const [row] = await run(insert, [mail.kind, mail.recipient, mail.subject, mail.html])
  if (row === undefined) throw new Error('A mail that was just kept is not there.')
  return row.id
}

/**
 * The mail is finished: its text is deleted, and if the mail server accepted it the ceiling counts it. $2: whether the
 * server accepted it.
 */
export const recordMailDelivery = defineAction<[id: string, taken: boolean]>(
  'auth.outbox.settle',
  `with charged as (
    insert into catalograph_auth.accepted_mails (accepted_at) select now() where $2::boolean
  )
  delete from catalograph_auth.outbox where id = $1`,
)

/** Removes old rows; it need not run often. Entries that no limit reads any more, and mails that were not fetched. */
export const tidyMails = defineAction<[]>(
  'auth.outbox.tidy',
  `with waited as (
    delete from catalograph_auth.cooldowns where sent_at < now() - interval '2 days'
  ), charged as (
    delete from catalograph_auth.accepted_mails where accepted_at < now() - interval '1 day'
  )
  delete from catalograph_auth.outbox where created_at < now() - interval '30 days'`,
)

/** Mails that count towards the ceiling, without a request; until its transaction ends no other call counts. */
export const countMails = async (run: RunStatement, request: string | null): Promise<number> => {
  await run(lockCount)
  return (await run(count, [request]))[0]?.n ?? 0
}

/** Mails that are kept without a mail server, newest first. A bare `id` would be the answer's text. */
export const listMails = defineList<KeptMail, [most: number]>(
  'auth.outbox.list',
  `select m.id::text, m.kind, m.recipient, m.subject, m.html, m.created_at from catalograph_auth.outbox m
  order by m.id desc limit $1`,
)
