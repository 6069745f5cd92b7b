import type { ListedTemplate } from '../auth/mails/templates.ts'
import type { AuthSettingName } from '../auth/settings/keys.ts'
import type { KeptMail } from '../auth/store/outbox.ts'
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

export interface TokenAnswer {
  readonly access_token: string
  readonly token_type: 'bearer'
  /** Seconds. */
  readonly expires_in: number
  /** Unix seconds. */
  readonly expires_at: number
}

/** Every refusal. */
export interface RefusalAnswer {
  readonly code: string
  readonly message: string
  /** What is wrong with which of the settings that were sent. */
  readonly problems?: readonly SettingProblem[]
}
