import type { TemplateTexts } from '../../../auth/mails/kinds.ts'
import type { MailVariables } from '../../../auth/mails/mailer.ts'
import { faultOf, parseHtml, parseSubject, render, renderSubject } from '../../../auth/mails/template.ts'

export interface Preview {
  readonly subject: string
  readonly html: string
  readonly subjectProblem: string | null
  readonly htmlProblem: string | null
}

/** Parts without a fault: a fault reported with one of them belongs to the other. */
const good: TemplateTexts = { subject: 'Subject', html: '{{ .ConfirmationURL }}' }

const samples = (projectUrl: string): MailVariables => ({
  ConfirmationURL: `${projectUrl}/auth/v1/verify?token=a-sample-token&type=signup&redirect_to=https://app.example.com`,
  Token: '123456',
  TokenHash: 'a-sample-token',
  SiteURL: 'https://app.example.com',
  Email: 'ada@example.com',
  NewEmail: 'ada.new@example.com',
  RedirectTo: 'https://app.example.com',
  SendingTo: 'ada@example.com',
  Data: { name: 'Ada' },
})

export const variableNames: readonly string[] = Object.keys(samples('')).map((name) =>
  name === 'Data' ? '{{ .Data.name }}' : `{{ .${name} }}`,
)

/** `before`: the last rendering, for a part that cannot be rendered. */
export function previewOf({ subject, html }: TemplateTexts, projectUrl: string, before: Preview | null): Preview {
  const variables = samples(projectUrl)
  const subjectProblem = faultOf({ ...good, subject })
  const htmlProblem = faultOf({ ...good, html })
  return {
    subject: subjectProblem === null ? renderSubject(parseSubject(subject), variables) : (before?.subject ?? ''),
    html: htmlProblem === null ? render(parseHtml(html), variables) : (before?.html ?? ''),
    subjectProblem,
    htmlProblem,
  }
}
