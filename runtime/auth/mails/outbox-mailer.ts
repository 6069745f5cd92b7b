import { statement, type RunStatement, type StatementsDatabase } from '../../db/statements.ts'
import type { Mail, Mailer } from './mailer.ts'

/** Keeps mails for the owner and sends none: catalograph_auth.outbox is where they can be read. */

const insert = statement<object>(
  'auth.outbox.insert',
  'insert into catalograph_auth.outbox (kind, recipient, subject, html) values ($1, $2, $3, $4)',
)

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}
const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => escapes[character] ?? '')

function html({ variables: { ConfirmationURL: url, Token: code } }: Mail): string {
  const link = url === '' ? '' : `<p><a href="${escaped(url)}">${escaped(url)}</a></p>`
  return `${link}<p>${escaped(code)}</p>`
}

async function keep(run: RunStatement, mail: Mail): Promise<void> {
  await run(insert, [mail.kind, mail.recipient, mail.kind, html(mail)])
}

export function createOutboxMailer(database: StatementsDatabase): Mailer {
  return {
    withMail: (_settings, work) => database.transaction((run) => work(run, (mail) => keep(run, mail))),
    pretend: async () => undefined,
  }
}
