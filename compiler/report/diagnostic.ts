/** One remark of the compiler for the owner of a database. */
export interface Diagnostic {
  readonly code: string
  readonly severity: 'error' | 'warning' | 'info'
  /** The object it is about, as the owner would write it: `table public.posts`, `column public.posts.title`. */
  readonly object: string
  readonly message: string
  readonly fix: string
}
