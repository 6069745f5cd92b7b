import { json, type Outcome } from '../../auth/call/call.ts'
import { refuse } from '../../auth/protocol/errors.ts'
import { plainText } from '../../auth/mails/plain-text.ts'
import { DatabaseFailure } from '../../db/failures/failures.ts'
import { listMails } from '../../auth/store/outbox.ts'
import type { MailsAnswer, PrepareAnswer, ProjectAnswer, AdminParts, OwnerCall } from './call.ts'
import type * as io from './io.ts'
import { issueToken } from './issue-token.ts'

/** GET /project */
export async function getProject(_call: OwnerCall, { project }: AdminParts): Promise<Outcome> {
  return json<ProjectAnswer>(project())
}

/** POST /prepare */
export async function prepareProject(_call: OwnerCall, { prepare }: AdminParts): Promise<Outcome> {
  return json<PrepareAnswer>({ applied: await prepare() })
}

const withoutSchema = 'This server answers compiled documents only, and holds no schema'

/** GET /schema: what introspection says, whether or not the role may ask for it. */
export async function getSchema({ query }: OwnerCall<typeof io.getSchema>, { describe }: AdminParts): Promise<Outcome> {
  const schema = await describe(query.role ?? 'anon')
  if (schema === null) throw refuse('not_found', withoutSchema)
  return json({ ...schema })
}

/** GET /report: the schema report, whether or not requests may ask for it. */
export async function getReport({ query }: OwnerCall<typeof io.getReport>, { report }: AdminParts): Promise<Outcome> {
  const found = await report(query.role ?? 'anon').catch(refuseRole)
  if (found === null) throw refuse('not_found', withoutSchema)
  return json({ ...found })
}

function refuseRole(error: unknown): never {
  if (!(error instanceof DatabaseFailure) || error.kind !== 'role-refused') throw error
  throw refuse('validation_failed', 'The role does not exist, or the service may not act as it')
}

const usualMails = '20'

/** GET /mails: those that are kept without a mail server; `last` limits the number. */
export async function getMails({ query }: OwnerCall<typeof io.getMails>, { tools }: AdminParts): Promise<Outcome> {
  const { last = usualMails } = query
  if (!/^[1-9]\d{0,2}$/.test(last)) throw refuse('validation_failed', 'last must be a number from 1 to 999')
  const kept = await listMails(tools.database.run, Number(last))
  const shown = kept.map(async (mail) => ({ ...mail, text: await plainText(mail.html) }))
  return json<MailsAnswer>({ mails: await Promise.all(shown) })
}

/** POST /tokens */
export async function postToken({ body, note }: OwnerCall<typeof io.postToken>, parts: AdminParts): Promise<Outcome> {
  const userId = body.user_id?.toLowerCase() ?? ''
  return json(await issueToken(parts, userId, note('token_issued', { user_id: userId })))
}
