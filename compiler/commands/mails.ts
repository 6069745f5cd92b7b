import { plainText } from '../../runtime/auth/mails/plain-text.ts'
import { listMails, type KeptMail } from '../../runtime/auth/store/outbox.ts'
import { authUrls, withAuthDatabase } from './auth-database.ts'
import { type Command, exitCodes, misuse } from './command.ts'
import { neededSettingsOf } from './needed-settings.ts'

const usually = '20'

export const mailsCommand: Command = {
  name: 'mails',
  summary: 'Print the mails that were kept instead of sent, newest first.',
  description:
    'Without SMTP_URL the service keeps mails in the database instead of sending them; this command prints them.\n' +
    'The database is that of DATABASE_AUTH_URL, DATABASE_OWNER_URL or DATABASE_URL, or the embedded one while it runs.',
  options: {
    last: { value: 'N', help: `How many to show (default: ${usually}).` },
    html: { value: null, help: 'Show their HTML instead of their text.' },
  },
  run: async ({ last = usually, html }, terminal) => {
    if (!/^[1-9]\d{0,3}$/.test(String(last))) throw misuse('--last takes a number from 1 to 9999')
    const { auth } = await authUrls(neededSettingsOf(terminal))
    const mails = await withAuthDatabase(auth, ({ run }) => listMails(run, Number(last)))
    for (const mail of mails) {
      terminal.print(renderMail(mail, html === true ? mail.html : await plainText(mail.html)))
    }
    if (mails.length === 0) terminal.note('No mails are kept.')
    return exitCodes.done
  },
}

function renderMail({ kind, recipient, subject, created_at }: KeptMail, body: string): string {
  const head = [`Date: ${created_at}`, `Kind: ${kind}`, `To: ${recipient}`, `Subject: ${subject}`]
  return [...head.map((line) => printable(line).replace(/\s+/g, ' ')), '', printable(body), ''].join('\n')
}

/** A stranger who signs up chooses parts of a mail: control characters could affect the terminal. */
function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}]/gu, (character) => (character === '\n' ? character : ' '))
}
