import type { ListedTemplate } from '../auth/mails/templates.ts'
import type { SessionJson } from '../auth/protocol/types.ts'
import type { AuthSettingName } from '../auth/settings/keys.ts'
import type { KeptMail } from '../auth/store/outbox.ts'
import type { KeptRequest } from '../observe/request-log.ts'
import type { RowCommand, ShownTable } from './policies.ts'
import type { Reach } from './row-access.ts'
import type { SettingProblem } from './save-settings.ts'
import type { ShownSetting } from './setting-values.ts'

/** What /admin/v1 answers. Types only: the dashboard reads them too. */

export interface ProjectAnswer {
  /** Where people reach the project, without a slash at its end. */
  readonly url: string
  /** The key that applications are given. */
  readonly anon_key: string
  /** `kept`: no mail server is set, and mails stay where their owner reads them. */
  readonly mails: 'kept' | 'sent'
}

export interface PrepareAnswer {
  /** Names of the steps that the database lacked. */
  readonly applied: readonly string[]
}

export interface SettingsAnswer {
  readonly settings: readonly ShownSetting[]
  /** Which of its three settings keep Google from being offered. */
  readonly google: { readonly missing: readonly AuthSettingName[] }
}

export interface TemplatesAnswer {
  readonly templates: readonly ListedTemplate[]
}

export interface ShownMail extends KeptMail {
  /** What its HTML says. */
  readonly text: string
}

export interface MailsAnswer {
  /** Newest first. */
  readonly mails: readonly ShownMail[]
}

export type TokenAnswer = Pick<SessionJson, 'access_token' | 'token_type' | 'expires_in' | 'expires_at'>

/** A slow or a failed GraphQL request: neither values nor rows. */
export interface ShownRequest extends Omit<KeptRequest, 'requestId' | 'at' | 'hasDocument'> {
  readonly request_id: string
  /** RFC 3339. */
  readonly answered_at: string
  /** Whether GET /documents/{hash} has the document. */
  readonly has_document: boolean
}

export interface RequestsAnswer {
  /** Of the process that answers; newest first. */
  readonly requests: readonly ShownRequest[]
  /** What takes as many milliseconds is slow; 0: nothing is. */
  readonly slow_ms: number
}

export interface DocumentAnswer {
  /** Texts in it are empty, and numbers 0. */
  readonly document: string
}

export interface PoliciesAnswer {
  readonly tables: readonly ShownTable[]
}

/** What a command reaches of a table. */
export type CommandAccess =
  | Exclude<Reach, { readonly kind: 'rows' }>
  /** `more`: counting ended there. */
  | { readonly kind: 'rows'; readonly rows: number; readonly more: boolean }
  /** Postgres could not tell: a policy fails, say, or takes too long. */
  | { readonly kind: 'failed'; readonly message: string }

export interface AccessAnswer extends Readonly<Record<RowCommand, CommandAccess>> {
  readonly role: string
}

/** Every refusal. */
export interface RefusalAnswer {
  readonly code: string
  readonly message: string
  /** What is wrong with which of the settings that were sent. */
  readonly problems?: readonly SettingProblem[]
}
