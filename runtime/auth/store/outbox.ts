import { statement, type RunStatement } from '../../db/pool/statements.ts'
import { defineAction, defineList } from './define.ts'

/** catalograph_auth.outbox and accepted_mails. */

const insert = statement<{ readonly id: string }>(
  'auth.outbox.insert',
  `insert into catalograph_auth.outbox (kind, recipient, subject, html, source) values ($1, $2, $3, $4, $5)
  returning id::text`,
)

/** Serializes the transactions that count; the number is ours alone. */
const lockCount = statement<object>('auth.outbox.lock-count', 'select pg_advisory_xact_lock(7216490811334501)')

/**
 * Seconds until as many mails may be sent: those of the last hour that were accepted count, and those in transit or
 * promised, except one. Each bound waits for the end of its oldest excess mails.
 */
const wait = statement<{ readonly seconds: number | null }>(
  'auth.outbox.wait',
  `with counted as (
    select accepted_at + interval '1 hour' as ends, kind, source from catalograph_auth.accepted_mails
      where accepted_at > now() - interval '1 hour'
    union all select created_at + interval '15 seconds', kind, source from catalograph_auth.outbox
      where accepted_at is null and created_at > now() - interval '15 seconds'
    union all select created_at + interval '15 seconds', kind, request -> 'client' ->> 'source'
      from catalograph_auth.mail_requests
      where id is distinct from $1::bigint and created_at > now() - interval '15 seconds'
  ), bounds as (
    select array_agg(ends order by ends) as ends, count(*) + $2::int - $3::int as excess from counted
    union all select array_agg(ends order by ends), count(*) + $2::int - $4::int from counted
      where source = $5 having $5 is not null
    union all select array_agg(ends order by ends), count(*) + $6::int - $7::int from counted
      where kind = any ('{confirmation,sign-in}') having $6::int > 0
  )
  select max(greatest(1, coalesce(ceil(extract(epoch from ends[excess] - now())), 3600)))::int as seconds
  from bounds where excess > 0`,
)

export interface MailCount {
  readonly mails: number
  /** Those to addresses that may have no account. */
  readonly toNewcomers: number
  /** The source address of the call; null: an administrator's, which has no bound of its own. */
  readonly source: string | null
  readonly most: { readonly all: number; readonly ofSource: number; readonly toNewcomers: number }
}

export interface KeptMail {
  readonly id: string
  readonly kind: string
  readonly recipient: string
  readonly subject: string
  readonly html: string
  readonly created_at: string
}

export type NewMail = Omit<KeptMail, 'id' | 'created_at'>

/** @param source the source address of the call; null: an administrator's */
export const insertMail = async (run: RunStatement, mail: NewMail, source: string | null): Promise<string> => {
  const [row] = await run(insert, [mail.kind, mail.recipient, mail.subject, mail.html, source])
  if (row === undefined) throw new Error('A mail that was just kept is not there.')
  return row.id
}

/**
 * The mail is finished: its text is deleted, and if the mail server accepted it the ceiling counts it. $2: whether the
 * server accepted it.
 */
export const recordMailDelivery = defineAction<[id: string, taken: boolean]>(
  'auth.outbox.settle',
  `with settled as (delete from catalograph_auth.outbox where id = $1 returning kind, source)
  insert into catalograph_auth.accepted_mails (accepted_at, kind, source)
  select now(), kind, source from settled where $2::boolean`,
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

/** Seconds until they may be sent; null: now. Until its transaction ends no other call counts. */
export const secondsUntilMails = async (
  run: RunStatement,
  { mails, toNewcomers, source, most }: MailCount,
  request: string | null,
): Promise<number | null> => {
  await run(lockCount)
  const values = [request, mails, most.all, most.ofSource, source, toNewcomers, most.toNewcomers]
  return (await run(wait, values))[0]?.seconds ?? null
}

/** Mails that are kept without a mail server, newest first. A bare `id` would be the answer's text. */
export const listMails = defineList<KeptMail, [most: number]>(
  'auth.outbox.list',
  `select m.id::text, m.kind, m.recipient, m.subject, m.html, m.created_at from catalograph_auth.outbox m
  order by m.id desc limit $1`,
)
