import type { AnswerOf } from '../../auth/protocol/io.ts'
import type * as io from './io.ts'

/** The answers of /admin/v1, as io.ts describes them. Types only: the dashboard reads them too. */

export type ProjectAnswer = AnswerOf<typeof io.getProject>
export type PrepareAnswer = AnswerOf<typeof io.prepareProject>
export type SettingsAnswer = AnswerOf<typeof io.getSettings>
export type ShownSetting = SettingsAnswer['settings'][number]
export type TemplatesAnswer = AnswerOf<typeof io.getTemplates>
export type ShownTemplate = TemplatesAnswer['templates'][number]
export type MailsAnswer = AnswerOf<typeof io.getMails>
export type ShownMail = MailsAnswer['mails'][number]
export type TokenAnswer = AnswerOf<typeof io.postToken>
export type RequestsAnswer = AnswerOf<typeof io.getRequests>
/** A slow or failed GraphQL request: neither values nor rows. */
export type ShownRequest = RequestsAnswer['requests'][number]
export type LiveFigures = AnswerOf<typeof io.getLive>
export type DocumentAnswer = AnswerOf<typeof io.getDocument>
export type PoliciesAnswer = AnswerOf<typeof io.getPolicies>
export type AccessAnswer = AnswerOf<typeof io.getAccess>
/** The rows of a table that a command reaches. */
export type CommandAccess = AccessAnswer['select']
/** Every refusal. */
export type RefusalAnswer = AnswerOf<typeof io.patchSettings, 422>
