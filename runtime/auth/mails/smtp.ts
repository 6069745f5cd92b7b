import { once } from '../../lib/caches.ts'
import { within } from '../../lib/timers.ts'

export interface MailServer {
  /** Resolves once the server has accepted the mail; rejects if it refuses or is late. */
  readonly deliver: (mail: LetterToSend) => Promise<void>
  /** Asks the server whether it would accept mails: costs as much as a delivery without its mail. */
  readonly knock: () => Promise<void>
}

export interface LetterToSend {
  readonly from: string
  readonly recipient: string
  readonly subject: string
  readonly html: string
  readonly text: string
}

/** RFC 3834 section 5, and Exchange's equivalent: suppress automatic replies. */
const ofMachine = { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' }

/** Below the time limit of a request (spec/auth.md 9.3). */
const limitMs = 8_000

/** Connects to the server of the address by SMTP, for example smtps://user:password@mail.example.com. */
export function createSmtp(url: string): MailServer {
  const limits = { connectionTimeout: limitMs, greetingTimeout: limitMs, socketTimeout: limitMs, dnsTimeout: limitMs }
  const options = { url, ...limits, disableFileAccess: true, disableUrlAccess: true }
  // Some megabytes that a server without mails need not load.
  const transport = once(async () => (await import('nodemailer')).createTransport(options))
  return {
    deliver: ({ from, recipient, ...parts }) =>
      inTime(limitMs, async () => {
        const to = { name: '', address: recipient }
        await (
          await transport()
        ).sendMail({ from, to, envelope: { from, to: [recipient] }, headers: ofMachine, ...parts })
      }),
    knock: () => inTime(limitMs, async () => void (await (await transport()).verify())),
  }
}

class TookTooLong extends Error {}

/** Codes of nodemailer for a server that it could not reach, or lost. */
const unreachable: ReadonlySet<string> = new Set([
  'ECONNECTION',
  'ECONNREFUSED',
  'ECONNRESET',
  'EDNS',
  'ESOCKET',
  'ETIMEDOUT',
])

/** Whether the server may accept the same mail later: 4yz (RFC 5321 section 4.2.1), or it was not reached. */
export function isPassing(error: unknown): boolean {
  if (error instanceof TookTooLong) return true
  if (!(error instanceof Error)) return false
  const { responseCode, code } = error as { readonly responseCode?: unknown; readonly code?: unknown }
  if (typeof responseCode === 'number') return responseCode >= 400 && responseCode < 500
  return typeof code === 'string' && unreachable.has(code)
}

async function inTime(ms: number, work: () => Promise<void>): Promise<void> {
  if (!(await within(ms, work()))) throw new TookTooLong(`The mail server took longer than ${ms} ms.`)
}
