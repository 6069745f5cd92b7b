import type { RunStatement } from '../../db/pool/statements.ts'
import type { NewMail } from '../store/outbox.ts'
import { storedTemplate } from '../store/mail-templates.ts'
import { mailKinds, type TemplateTexts } from './kinds.ts'
import type { Mail } from './mailer.ts'
import { faultOf, parseHtml, parseSubject, render, renderSubject } from './template.ts'

/** The mail as it is sent: from the owner's template, or from the default if there is no valid one. */
export async function composeMail(run: RunStatement, { kind, recipient, variables }: Mail): Promise<NewMail> {
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
