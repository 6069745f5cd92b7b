import type { RunStatement, StatementsDatabase } from '../../db/statements.ts'
import { refuse } from '../errors.ts'
import type { AuthSettings } from '../settings/keys.ts'
import { acceptMail, insertMail, removeMail, tidyMails, type NewMail } from '../store/outbox.ts'
import { composeMail } from './compose.ts'
import { createDurations } from './durations.ts'
import { mailKinds } from './kinds.ts'
import { addressKey, beginCooldowns, checkCeiling, type Recipient } from './limits.ts'
import type { Mail, MailKind, Mailer, Undo } from './mailer.ts'
import type { MailServer } from './smtp.ts'

export interface MailerOptions {
  readonly database: StatementsDatabase
  /** The project's secret. */
  readonly secret: string
  /** Null: there is none, and mails stay in the outbox, where their owner reads them. */
  readonly server: MailServer | null
  /** Sender; null: one at the host of the project's own address. */
  readonly from: string | null
}

/** A mail that is in the outbox. */
interface Posted extends NewMail {
  readonly id: string
  readonly kind: MailKind
}

/** What a transaction left behind: mails to hand over, and how to take it all back. */
interface Batch {
  readonly posted: readonly Posted[]
  readonly undo: readonly Undo[]
}

/** Sends mails through the mail server, or keeps them where there is none (sections 4.11 and 9.3). */
export function createMailer(options: MailerOptions): Mailer {
  const { database, server } = options
  const key = addressKey(options.secret)
  const durations = createDurations()
  const tidy = createTidy(database)
  return {
    withMail: async (settings, work) => {
      const began = performance.now()
      const { value, batch } = await database.transaction(async (run) => {
        const asked: Asked[] = []
        const result = await work(run, async (mail, undo) => void asked.push({ mail, undo }))
        return { value: result, batch: await post(run, asked, settings, key, server) }
      })
      if (server !== null) await handOver(database, server, options.from ?? senderOf(settings), batch)
      tidy()
      for (const { kind } of batch.posted) durations.note(kind, performance.now() - began)
      return value
    },
    pretend: async (settings, kind, address) => {
      const began = performance.now()
      await database.transaction(async (run) => {
        await limit(run, [{ kind, recipient: address }], settings, key, server)
      })
      if (server !== null) await knock(server, kind)
      await durations.wait(kind, began)
    },
  }
}

interface Asked {
  readonly mail: Mail
  readonly undo: Undo
}

/** Mails that stay with us are none that the ceiling counts. */
async function limit(
  run: RunStatement,
  recipients: readonly Recipient[],
  settings: AuthSettings,
  key: Buffer,
  server: MailServer | null,
): Promise<readonly Undo[]> {
  const undo = await beginCooldowns(run, key, recipients, settings)
  if (server !== null && recipients.length > 0) await checkCeiling(run, recipients.length, settings)
  return undo
}

async function post(
  run: RunStatement,
  asked: readonly Asked[],
  settings: AuthSettings,
  key: Buffer,
  server: MailServer | null,
): Promise<Batch> {
  const cooldowns = await limit(
    run,
    asked.map(({ mail }) => mail),
    settings,
    key,
    server,
  )
  const posted: Posted[] = []
  for (const { mail } of asked) {
    const letter = await composeMail(run, mail)
    posted.push({ ...letter, kind: mail.kind, id: await insertMail(run, letter) })
  }
  // What was done last is taken back first.
  return { posted, undo: [...asked.map(({ undo }) => undo).reverse(), ...cooldowns] }
}

/** Throws 500 `unexpected_failure` once everything of the call is undone. */
async function handOver(
  database: StatementsDatabase,
  server: MailServer,
  from: string,
  { posted, undo }: Batch,
): Promise<void> {
  const verdicts = await Promise.all(posted.map((mail) => deliver(database, server, from, mail)))
  const failed = verdicts.find(({ failure }) => failure !== null)
  if (failed === undefined) return
  await database.transaction(async (run) => {
    for (const takeBack of undo) await takeBack(run)
    for (const { mail, failure } of verdicts) if (failure !== null) await removeMail(run, mail.id)
  })
  throw refuse('unexpected_failure', { message: mailKinds[failed.mail.kind].failure, cause: failed.failure })
}

interface Delivery {
  readonly mail: Posted
  /** Null: accepted. */
  readonly failure: unknown
}

async function deliver(
  database: StatementsDatabase,
  server: MailServer,
  from: string,
  mail: Posted,
): Promise<Delivery> {
  try {
    await server.deliver({ from, recipient: mail.recipient, subject: mail.subject, html: mail.html })
  } catch (error) {
    return { mail, failure: error ?? new Error('The mail server failed.') }
  }
  // The mail is out: a count that cannot be kept now is no reason to take back what it tells of.
  await acceptMail(database.run, mail.id).catch(() => undefined)
  return { mail, failure: null }
}

/** A mail server that is down is so for addresses without an account too (attack 21). */
async function knock(server: MailServer, kind: MailKind): Promise<void> {
  try {
    await server.knock()
  } catch (cause) {
    throw refuse('unexpected_failure', { message: mailKinds[kind].failure, cause })
  }
}

/** The sending domain is the project's own. */
function senderOf({ external_url: url }: AuthSettings): string {
  return `no-reply@${new URL(url).hostname}`
}

const tidyEveryMs = 3_600_000

function createTidy(database: StatementsDatabase): () => void {
  let last = performance.now()
  return () => {
    if (performance.now() - last < tidyEveryMs) return
    last = performance.now()
    tidyMails(database.run).catch(() => undefined)
  }
}
