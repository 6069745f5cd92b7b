import { type MailKind, type TemplateTexts, mailKinds, templateKinds } from './kinds.ts'
import { faultOf } from './template.ts'
import type { RunStatement } from '../../db/pool/statements.ts'
import type { Parsed } from '../../settings/parsers.ts'
import { putTemplate, storedTemplates } from '../store/mail-templates.ts'

interface ListedTemplate extends TemplateTexts {
  readonly kind: MailKind
  readonly changed: boolean
}

export async function listTemplates(run: RunStatement): Promise<readonly ListedTemplate[]> {
  const stored = await storedTemplates(run)
  return templateKinds.map((kind) => {
    const own = stored.get(kind)
    const { subject, html } = own ?? mailKinds[kind]
    return { kind, subject, html, changed: own !== undefined }
  })
}

/**
 * Stores a template; omitted parts stay unchanged. Returns its fault as a sentence, and stores nothing then: over HTTP
 * that is 422 `validation_failed`.
 */
export async function setTemplate(
  run: RunStatement,
  kind: MailKind,
  texts: Partial<TemplateTexts>,
): Promise<Parsed<TemplateTexts>> {
  const before = (await storedTemplates(run)).get(kind) ?? mailKinds[kind]
  const wanted = { subject: texts.subject ?? before.subject, html: texts.html ?? before.html }
  const problem = faultOf(wanted)
  if (problem !== null) return { kind: 'problem', problem }
  await putTemplate(run, kind, wanted)
  return { kind: 'value', value: wanted }
}
