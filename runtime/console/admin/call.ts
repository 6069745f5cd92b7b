import type { IntrospectionQuery } from 'graphql'
import type { AnswerOf, BodyOf, DescribedEndpoint, Io, QueryOf } from '../../auth/protocol/io.ts'
import type * as io from './io.ts'
import type { Outcome } from '../../auth/call/call.ts'
import type { AuthParts } from '../../auth/http/register.ts'
import type { Method } from '../../auth/http/route.ts'
import type { AuditAction } from '../../auth/store/audit-log.ts'
import type { RunExchange } from '../../contract/execution.ts'
import type { Summary } from '../../engine/summary.ts'
import type { Health } from '../../http/health.ts'
import type { SchemaReport } from '../../graphql/report/report.ts'
import type { RunStatement } from '../../db/pool/statements.ts'
import type { KeptRequest, LiveObservation } from '../../contract/observations.ts'

/** The answers of /admin/v1, as io.ts describes them. Types only: the dashboard reads them too. */

export type ProjectAnswer = AnswerOf<typeof io.getProject>
export type OverviewAnswer = AnswerOf<typeof io.getOverview>
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
export type RefusalAnswer = AnswerOf<typeof io.patchSettings, 422>

export interface AdminParts extends AuthParts {
  readonly project: () => ProjectAnswer
  /** The state of the process, and the extent of the API; null: only compiled documents are served, or no schema is loaded yet. */
  readonly overview: () => Promise<{ readonly health: Health; readonly summary: Summary | null }>
  /** Creates missing tables of auth; returns the names of the migrations. */
  readonly prepare: () => Promise<readonly string[]>
  /** The slow and failed requests that all workers of this service keep. */
  readonly requests: () => Promise<readonly KeptRequest[]>
  /** The live queries of each worker. */
  readonly live: () => Promise<readonly LiveObservation[]>
  /** The duration in milliseconds from which a request is slow; 0: none is. */
  readonly slowMs: number
  readonly schemas: readonly string[]
  /** Runs statements like a request's. */
  readonly asCaller: RunExchange
  /** The API of a role; null: only compiled documents are served. Rejects with HttpFailure while there is none. */
  readonly describe: (role: string) => Promise<IntrospectionQuery | null>
  /** The schema report on a role; null: only compiled documents are served. Rejects in the same way, and with DatabaseFailure. */
  readonly report: (role: string) => Promise<SchemaReport | null>
}

/** A request of the project's owner, whose key was checked. */
export interface OwnerCall<I extends Io = DescribedEndpoint> {
  readonly params: Readonly<Record<string, string>>
  readonly query: QueryOf<I>
  readonly body: BodyOf<I>
  /** Adds an entry to the audit log, with names only: values may be secrets. The key's role stands for its holder. */
  readonly note: (action: AuditAction, traits: Readonly<Record<string, string>>) => (run: RunStatement) => Promise<void>
}

/** One row of routes.ts, without the types of its endpoint, like a row of auth (auth/http/route.ts). */
export interface OwnerRoute {
  /** Method and path below /admin/v1; `:name` is a parameter. */
  readonly at: `${Method} /${string}`
  readonly io: Io
  handle(call: OwnerCall, parts: AdminParts): Promise<Outcome>
}

interface Reading<I extends Io> extends OwnerRoute {
  readonly io: I
  readonly handle: (call: OwnerCall<NoInfer<I>>, parts: AdminParts) => Promise<Outcome>
}

/** A row of the table; it is a type error if the endpoint reads undeclared input. */
export const ownerRoute = <I extends Io>(row: Reading<I>): OwnerRoute => row
