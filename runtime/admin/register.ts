import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { IntrospectionQuery } from 'graphql'
import { adminOfBearer } from '../auth/bearer.ts'
import { readJsonBody } from '../auth/body.ts'
import { detailOf, toErrorAnswer } from '../auth/boundary.ts'
import { refuse } from '../auth/errors.ts'
import { textOf } from '../auth/input.ts'
import { isTemplateKind, templateKinds } from '../auth/mails/kinds.ts'
import type { MailKind } from '../auth/mails/mailer.ts'
import { listTemplates, resetTemplate, setTemplate } from '../auth/mails/templates.ts'
import type { AuthParts } from '../auth/register.ts'
import { listMails } from '../auth/store/outbox.ts'
import { audit, type AuditAction } from '../auth/store/audit-log.ts'
import { instanceId } from '../auth/store/users.ts'
import { storedSettings } from '../auth/settings/store.ts'
import { clientAddress, limitSource } from '../http/client-address.ts'
import { DatabaseFailure } from '../db/failures.ts'
import type { RunStatement } from '../db/statements.ts'
import type { MailsAnswer, PrepareAnswer, ProjectAnswer, RefusalAnswer, SettingsAnswer, TemplatesAnswer, TokenAnswer } from './answers.ts'
import { issueToken } from './issue-token.ts'
import { missingForGoogle, saveSettings, type SettingChanges } from './save-settings.ts'
import { showSettings, textOfValue } from './setting-values.ts'

const prefix = '/admin/v1'

export interface AdminParts extends AuthParts {
  readonly project: () => ProjectAnswer
  /** Makes the tables of auth where they are missing; gives the names of what it did. */
  readonly prepare: () => Promise<readonly string[]>
  /** The whole API of a role. Rejects with HttpFailure while there is none. */
  readonly describe: (role: string) => Promise<IntrospectionQuery>
}

/**
 * Registers what the owner's tools call, with the service_role key. It answers while auth is not enabled too, since
 * this is how it is enabled. Answers are those of answers.ts; errors are `{code, message}`.
 */
export function registerAdmin(app: FastifyInstance, parts: AdminParts): void {
  void app.register(
    async (scope) => {
      scope.removeAllContentTypeParsers()
      scope.addContentTypeParser('*', { parseAs: 'buffer' }, async (_request: FastifyRequest, body: Buffer) => body)
      scope.setErrorHandler((error, request, reply) => sendError(error, request, reply, parts))
      scope.addHook('onRequest', async (request, reply) => {
        reply.header('cache-control', 'no-store')
        await checkOwner(request, parts)
      })
      scope.get('/project', async () => parts.project())
      scope.post('/prepare', () => prepare(parts))
      scope.get('/schema', (request) => parts.describe(queryOf(request)['role'] ?? 'anon'))
      scope.get('/settings', () => settingsJson(parts))
      scope.patch('/settings', (request, reply) => patchSettings(request, reply, parts))
      scope.get('/templates', () => templatesJson(parts))
      scope.patch('/templates/:kind', (request) => patchTemplate(request, parts))
      scope.delete('/templates/:kind', (request) => deleteTemplate(request, parts))
      scope.get('/mails', (request) => mailsJson(request, parts))
      scope.post('/tokens', (request) => postToken(request, parts))
    },
    { prefix },
  )
}

/** The one role that may: the key of the project's owner. */
const ownerRole = 'service_role'

async function checkOwner(request: FastifyRequest, { tools, verify, addressHeader }: AuthParts): Promise<void> {
  await tools.throttle.refuseBanned(limitSource(clientAddress(request, addressHeader)))
  const { authorization, apikey } = request.headers
  const bearer = authorization ?? (typeof apikey === 'string' ? `Bearer ${apikey}` : undefined)
  await adminOfBearer({ authorization: bearer, verify, run: tools.database.run }, [ownerRole])
}

async function prepare(parts: AdminParts): Promise<PrepareAnswer> {
  return { applied: await parts.prepare() }
}

async function settingsJson({ tools }: AuthParts): Promise<SettingsAnswer> {
  return settingsAnswer(await storedSettings(tools.database.run))
}

function settingsAnswer(stored: Readonly<Record<string, string>>): SettingsAnswer {
  return { settings: showSettings(stored), google: { missing: missingForGoogle(stored) } }
}

/** JSON merge patch (RFC 7396): null gives a setting its default back. */
async function patchSettings(request: FastifyRequest, reply: FastifyReply, parts: AuthParts): Promise<object> {
  const changes = changesOf(readJsonBody(bodyOf(request)))
  const note = noteOf(request, parts, 'settings_changed', { settings: Object.keys(changes).sort().join(' ') })
  const saved = await saveSettings(parts.tools.database, changes, note)
  if (saved.kind === 'saved') return settingsAnswer(saved.stored)
  const message = saved.problems.map(({ name, problem }) => `${name} ${problem}`).join('; ')
  const answer: RefusalAnswer = { code: 'validation_failed', message, problems: saved.problems }
  return reply.code(422).send(answer)
}

function changesOf(body: Readonly<Record<string, unknown>>): SettingChanges {
  const entries = Object.entries(body).map(([name, value]): [string, string | null] => {
    const text = textOfValue(value)
    if (text !== undefined) return [name, text]
    throw refuse('validation_failed', 'An item of a list holds a comma outside braces, or a line end')
  })
  return Object.fromEntries(entries)
}

async function templatesJson({ tools }: AuthParts): Promise<TemplatesAnswer> {
  return { templates: await listTemplates(tools.database.run) }
}

/** What is left out of subject and HTML stays as it is. */
async function patchTemplate(request: FastifyRequest, parts: AuthParts): Promise<object> {
  const kind = kindOf(request)
  const body = readJsonBody(bodyOf(request))
  const [subject, html] = [textOf(body, 'subject'), textOf(body, 'html')]
  const texts = { ...(subject !== '' && { subject }), ...(html !== '' && { html }) }
  const note = noteOf(request, parts, 'template_changed', { template: kind, change: 'set' })
  const saved = await parts.tools.database.transaction(async (run) => {
    const result = await setTemplate(run, kind, texts)
    if (result.kind === 'value') await note(run)
    return result
  })
  if (saved.kind === 'value') return { kind, ...saved.value }
  throw refuse('validation_failed', { status: 422, message: `The template ${saved.problem}` })
}

async function deleteTemplate(request: FastifyRequest, parts: AuthParts): Promise<object> {
  const kind = kindOf(request)
  const note = noteOf(request, parts, 'template_changed', { template: kind, change: 'reset' })
  return parts.tools.database.transaction(async (run) => {
    await resetTemplate(run, kind)
    await note(run)
    return (await listTemplates(run)).find((one) => one.kind === kind) ?? {}
  })
}

const usualMails = '20'

/** Mails that are kept because there is no mail server; `last` says how many. */
async function mailsJson(request: FastifyRequest, { tools }: AuthParts): Promise<MailsAnswer> {
  const last = queryOf(request)['last'] ?? usualMails
  if (!/^[1-9]\d{0,2}$/.test(last)) throw refuse('validation_failed', 'last must be a number from 1 to 999')
  return { mails: await listMails(tools.database.run, Number(last)) }
}

function postToken(request: FastifyRequest, parts: AuthParts): Promise<TokenAnswer> {
  const userId = textOf(readJsonBody(bodyOf(request)), 'user_id')
  return issueToken(parts, userId, noteOf(request, parts, 'token_issued', { user_id: userId }))
}

/** Keeps in the audit log what was changed, by name: values may be secrets. The key's role stands for its holder. */
function noteOf(
  request: FastifyRequest,
  { addressHeader }: AuthParts,
  action: AuditAction,
  traits: Readonly<Record<string, string>>,
): (run: RunStatement) => Promise<void> {
  const address = clientAddress(request, addressHeader)
  const actor = { id: instanceId, email: ownerRole }
  return (run) => audit(run, { action, actor, address, traits })
}

function kindOf(request: FastifyRequest): MailKind {
  const { kind = '' } = request.params as Readonly<Record<string, string>>
  if (isTemplateKind(kind)) return kind
  throw refuse('not_found', `There is no template of this kind; there are ${templateKinds.join(', ')}`)
}

const queryOf = ({ query }: FastifyRequest): Readonly<Record<string, string | undefined>> =>
  Object.fromEntries(
    Object.entries(query as object).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  )

const bodyOf = ({ body }: FastifyRequest): Buffer => (Buffer.isBuffer(body) ? body : Buffer.alloc(0))

/** Schema or table missing: nobody has prepared auth here. */
const notPrepared: ReadonlySet<string> = new Set(['3F000', '42P01', '42501'])

function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply, { log }: AuthParts): FastifyReply {
  const unprepared = error instanceof DatabaseFailure && notPrepared.has(error.sqlstate ?? '')
  const failure = unprepared
    ? refuse('auth_not_enabled', 'Auth is not prepared in this database. Its owner runs: catalograph auth enable')
    : error
  const answer = toErrorAnswer(failure, '2024-01-01', request.id)
  if (answer.unexpected) log({ kind: 'request-failed', requestId: request.id, detail: detailOf(error) })
  return reply.code(answer.status).headers(answer.headers).send(answer.body)
}
