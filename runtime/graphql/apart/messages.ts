import type { Manifest } from '../../contract/manifest.ts'
import type { EntityModule } from '../../contract/artifact.ts'
import type { HttpFailureCode } from '../../http/boundary.ts'
import type { Sketch } from '../prepared/document.ts'
import type { DocumentRequest } from '../prepared/documents.ts'
import type { FailureCode, ErrorEntry } from '../protocol/failures.ts'
import type { Statements } from '../statements/statements.ts'
import type { Packed } from './packing.ts'

/** Messages between a service and its reader thread. */

/** The content of a request; its values are cloned, so they are few, or a text. */
export interface Question extends Omit<DocumentRequest, 'mark'> {
  readonly kind: 'question'
  readonly revision: string
  readonly queryOnly: boolean
  readonly live: boolean
  readonly byStep: boolean
  readonly variables: Readonly<Record<string, unknown>>
  /** The body with the variables, if they were too many to be read. */
  readonly unread: string | null
}

/** A revision is sent in parts, so that sending it does not hold the event loop. */
export type RevisionPart =
  | { readonly kind: 'revision'; readonly id: string; readonly manifest: Manifest; readonly functions: string }
  /** More items of one of the manifest's lists. */
  | { readonly kind: 'items'; readonly list: string; readonly items: readonly unknown[] }
  | { readonly kind: 'entities'; readonly entities: readonly EntityModule[] }

export type Message = Question | RevisionPart

export type Reply =
  | {
      readonly kind: 'ready'
      readonly ready: Packed
      /** The part worth keeping; null: too heavy. */
      readonly lesson: { readonly sketch: Sketch; readonly shape: string; readonly statements: Statements } | null
    }
  /** `always`: for all variables. */
  | {
      readonly kind: 'refused'
      readonly code: FailureCode
      readonly errors: readonly ErrorEntry[]
      readonly always: boolean
    }
  | { readonly kind: 'unreadable'; readonly code: HttpFailureCode; readonly message: string }
  /** An internal error. */
  | { readonly kind: 'failed'; readonly detail: string }
