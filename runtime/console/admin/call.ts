import type { IntrospectionQuery } from 'graphql'
import type { Outcome } from '../../auth/call/call.ts'
import type { BodyOf, DescribedEndpoint, Io, QueryOf } from '../../auth/protocol/io.ts'
import type { AuthParts } from '../../auth/http/register.ts'
import type { Method } from '../../auth/http/route.ts'
import type { AuditAction } from '../../auth/store/audit-log.ts'
import type { RunExchange } from '../../contract/execution.ts'
import type { RunStatement } from '../../db/pool/statements.ts'
import type { KeptRequest, LiveObservation } from '../../contract/observations.ts'
import type { ProjectAnswer } from './answers.ts'

/** What the owner's endpoints rest on. */
export interface AdminParts extends AuthParts {
  readonly project: () => ProjectAnswer
  /** Makes the tables of auth where they are missing; gives the names of what it did. */
  readonly prepare: () => Promise<readonly string[]>
  /** The slow and the failed ones that this service keeps, of all its workers. */
  readonly requests: () => Promise<readonly KeptRequest[]>
  /** What live queries do, of each worker. */
  readonly live: () => Promise<readonly LiveObservation[]>
  /** What takes as many milliseconds is slow; 0: nothing is. */
  readonly slowMs: number
  /** Those that are served. */
  readonly schemas: readonly string[]
  /** Runs statements as requests run. */
  readonly asCaller: RunExchange
  /** The whole API of a role; null: this server answers compiled documents only. Rejects with HttpFailure while there is none. */
  readonly describe: (role: string) => Promise<IntrospectionQuery | null>
}

/** A request of the project's owner: the key was checked. */
export interface OwnerCall<I extends Io = DescribedEndpoint> {
  readonly params: Readonly<Record<string, string>>
  readonly query: QueryOf<I>
  readonly body: BodyOf<I>
  /** Keeps in the audit log what was done, by name: values may be secrets. The key's role stands for its holder. */
  readonly note: (action: AuditAction, traits: Readonly<Record<string, string>>) => (run: RunStatement) => Promise<void>
}

/** One row of routes.ts. It forgets what its endpoint reads, as a row of auth does (auth/http/route.ts). */
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

/** A row of the table; an endpoint that reads what `io` does not describe is a type error here. */
export const ownerRoute = <I extends Io>(row: Reading<I>): OwnerRoute => row
