import { statement, type RunStatement, type StatementsDatabase } from '../../db/pool/statements.ts'
import type { AuthSettings } from '../settings/setting-keys.ts'
import type { Begun } from '../store/throttles.ts'
import { insertMail, recordMailDelivery, tidyMails, type NewMail } from '../store/outbox.ts'
import {
  createHandOver,
  type HandOver,
  type Posted,
  addressKey,
  beginCooldowns,
  checkCeiling,
  endCooldowns,
  isHeld,
  type Recipient,
} from './hand-over.ts'
import type { Mail, Mailer, MailerView, MailWork, MailNote } from './mailer.ts'
import type { MailServer } from './smtp.ts'
import { storedTemplate } from '../store/mail-templates.ts'
import { mailKinds, type TemplateTexts } from './kinds.ts'
import { faultOf, parseHtml, parseSubject, render, renderSubject } from './template.ts'

export interface MailerOptions {
  readonly database: StatementsDatabase
  readonly secret: string
  /** Null: none; mails stay in the outbox, where the owner reads them. */
  readonly server: MailServer | null
  /** Sender; null: one at the host of the project's own address. */
  readonly from: string | null
}

interface Parts {
  readonly database: StatementsDatabase
  readonly key: Buffer
  /** Null: mails stay in the outbox. */
  readonly handOver: HandOver | null
}

interface Job<T> {
  readonly settings: AuthSettings
  readonly work: MailWork<T>
  readonly note: MailNote<T>
  /** The address for which a decoy is processed; null: the work and its mails are real. */
  readonly decoyOf: string | null
}

const noNote = async (): Promise<void> => undefined

/** Sends mails through the mail server, or keeps them without one (spec/auth.md 4.11 and 9.3). */
export function createMailer({ database, secret, server, from }: MailerOptions): Mailer {
  const handOver = server === null ? null : createHandOver(server, from)
  const parts = { database, key: addressKey(secret), handOver }
  const tidy = createTidy(database)
  const carryOut = async <T>(view: MailerView, job: Job<T>): Promise<T> => {
    tidy()
    return handOver === null ? keepMails(parts, view, job) : sendMails(parts, handOver, view, job)
  }
  const on = (view: MailerView): Mailer => ({
    withMail: (settings, work, note = noNote) => carryOut(view, { settings, work, note, decoyOf: null }),
    pretend: async (settings, address, work, note) =>
      void (await carryOut(view, { settings, work, note, decoyOf: address })),
    check: async (kind) => handOver?.check(kind),
    reserve: (run, settings, kinds, recipient) =>
      limit(
        run,
        parts,
        { ...view, request: null },
        settings,
        kinds.map((kind) => ({ kind, recipient })),
      ),
    on: (more) => on({ ...view, ...more }),
  })
  return on({ database, request: null, source: null })
}

/** Mails stay in the outbox: everything is one transaction. */
function keepMails<T>(parts: Parts, view: MailerView, job: Job<T>): Promise<T> {
  return view.database.transaction(async (run) => {
    const asked: Mail[] = []
    const value = await attempt(run, job.decoyOf === null, async () => {
      const made = await job.work(run, (mail) => void asked.push(mail))
      await post(run, view, asked)
      return made
    })
    await limit(run, parts, view, job.settings, recipientsOf(asked, job))
    await job.note(run, value)
    return value
  })
}

/** Two transactions, with the mail server between them: the first stores the limits, the second the work. */
async function sendMails<T>(parts: Parts, handOver: HandOver, view: MailerView, job: Job<T>): Promise<T> {
  const { database } = parts
  const { settings, work, note, decoyOf } = job
  const reserved: Reserved = await database.transaction(async (run) => {
    const asked: Mail[] = []
    await attempt(run, false, () => work(run, (mail) => void asked.push(mail)))
    const begun = await limit(run, parts, view, settings, recipientsOf(asked, job))
    return { begun, posted: await post(run, view, asked) }
  })
  const sent = new Set<Posted>()
  try {
    await (decoyOf === null ? handOver.deliver(settings, reserved.posted, sent) : handOver.pretend(reserved.posted))
    return await view.database.transaction(async (run) => {
      const value = await attempt(run, decoyOf === null, () => work(run, () => undefined))
      await note(run, value)
      for (const { id } of reserved.posted) await recordMailDelivery(run, id, decoyOf === null)
      return value
    })
  } catch (error) {
    await giveUp(database, reserved, sent).catch(() => undefined)
    throw error
  }
}

interface Reserved {
  readonly begun: readonly Begun[]
  readonly posted: readonly Posted[]
}

/** A sent mail is counted, even if the transaction of its subject was rolled back. */
async function giveUp(
  database: StatementsDatabase,
  { begun, posted }: Reserved,
  sent: ReadonlySet<Posted>,
): Promise<void> {
  await database.transaction(async (run) => {
    await endCooldowns(run, begun)
    for (const mail of posted) await recordMailDelivery(run, mail.id, sent.has(mail))
  })
}

const savepoint = statement<object>('auth.mails.savepoint', 'savepoint work')
const keep = statement<object>('auth.mails.keep', 'release savepoint work')
const rollBack = statement<object>('auth.mails.take-back', 'rollback to savepoint work')

/** Runs work, and rolls it back immediately unless it must be kept. */
async function attempt<T>(run: RunStatement, kept: boolean, work: () => Promise<T>): Promise<T> {
  await run(savepoint)
  const value = await work()
  await run(kept ? keep : rollBack)
  return value
}

/** The addresses whose cooldown begins: a decoy's mail counts for the address that it replaces. */
const recipientsOf = <T>(asked: readonly Mail[], { decoyOf }: Job<T>): readonly Recipient[] =>
  asked.map(({ kind, recipient }) => ({ kind, recipient: decoyOf ?? recipient }))

/** Mails in the outbox do not count towards the ceiling. */
async function limit(
  run: RunStatement,
  { key, handOver }: Parts,
  { request: held, source }: MailerView,
  settings: AuthSettings,
  recipients: readonly Recipient[],
): Promise<readonly Begun[]> {
  const fresh = recipients.filter((one) => !isHeld(key, one, held?.begun ?? []))
  const begun = await beginCooldowns(run, key, fresh, settings)
  if (handOver !== null && recipients.length > 0) {
    await checkCeiling(run, recipients, settings, source, held?.id ?? null)
  }
  return begun
}

async function post(run: RunStatement, { source }: MailerView, asked: readonly Mail[]): Promise<readonly Posted[]> {
  const posted: Posted[] = []
  for (const mail of asked) {
    const letter = await composeMail(run, mail)
    posted.push({ ...letter, kind: mail.kind, id: await insertMail(run, letter, source) })
  }
  return posted
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

/** The mail as it is sent: from the owner's template, or from the default if there is no valid one. */
async function composeMail(run: RunStatement, { kind, recipient, variables }: Mail): Promise<NewMail> {
  const own = mailKinds[kind].changeable ? await storedTemplate(run, kind) : null
  // A template that was inserted manually was never checked.
  const { subject, html }: TemplateTexts = own !== null && faultOf(own) === null ? own : mailKinds[kind]
  return {
    kind,
    recipient,
    subject: renderSubject(parseSubject(subject), variables),
    html: render(parseHtml(html), variables),
  }
}
