import { json, type Outcome } from '../../auth/call/call.ts'
import { refuse } from '../../auth/protocol/errors.ts'
import { isTemplateKind, templateKinds, type MailKind } from '../../auth/mails/kinds.ts'
import { listTemplates, setTemplate } from '../../auth/mails/templates.ts'
import { resetTemplate } from '../../auth/store/mail-templates.ts'
import type { TemplatesAnswer, AdminParts, OwnerCall } from './call.ts'
import type * as io from './io.ts'

/** GET /templates */
export async function getTemplates(_call: OwnerCall, { tools }: AdminParts): Promise<Outcome> {
  return json<TemplatesAnswer>({ templates: await listTemplates(tools.database.run) })
}

/** PATCH /templates/:kind. An omitted subject or HTML is unchanged. */
export async function patchTemplate(call: OwnerCall<typeof io.patchTemplate>, { tools }: AdminParts): Promise<Outcome> {
  const kind = mailKind(call)
  const { subject = '', html = '' } = call.body
  const texts = { ...(subject !== '' && { subject }), ...(html !== '' && { html }) }
  const note = call.note('template_changed', { template: kind, change: 'set' })
  const saved = await tools.database.transaction(async (run) => {
    const result = await setTemplate(run, kind, texts)
    if (result.kind === 'value') await note(run)
    return result
  })
  if (saved.kind === 'value') return json({ kind, ...saved.value })
  throw refuse('validation_failed', { status: 422, message: `The template ${saved.problem}` })
}

/** DELETE /templates/:kind: restores the default. */
export async function deleteTemplate(call: OwnerCall, { tools }: AdminParts): Promise<Outcome> {
  const kind = mailKind(call)
  const note = call.note('template_changed', { template: kind, change: 'reset' })
  const templates = await tools.database.transaction(async (run) => {
    await resetTemplate(run, kind)
    await note(run)
    return listTemplates(run)
  })
  return json({ ...templates.find((one) => one.kind === kind) })
}

function mailKind({ params: { kind = '' } }: OwnerCall): MailKind {
  if (isTemplateKind(kind)) return kind
  throw refuse('not_found', `Unknown kind of template; the kinds are ${templateKinds.join(', ')}`)
}
