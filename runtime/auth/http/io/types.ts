/** What goes in and out of an endpoint, as data: what it is given to read, and what its description is made of. */

/** A JSON Schema (draft 2020-12, the dialect of OpenAPI 3.1). */
export type Schema = Readonly<Record<string, unknown>>

/** Members of a body or of a query, by name. */
export type Members = Readonly<Record<string, Schema>>

export interface Body {
  readonly kind: 'json' | 'form'
  /** Whatever else a body holds is ignored (spec/auth.md 2.3). */
  readonly members: Members
}

/** One answer that is no refusal; refusals are alike everywhere. */
export type Answer =
  | { readonly kind: 'json'; readonly schema: Schema }
  /** Sends the browser on. */
  | { readonly kind: 'redirect' }
  | { readonly kind: 'empty' }

export interface Io {
  readonly summary: string
  readonly query: Members
  /** Whether parameters that nobody names here matter too: they are passed to a provider. */
  readonly passesQuery: boolean
  readonly body: Body | null
  /** By HTTP status. */
  readonly answers: Readonly<Record<number, Answer>>
}
