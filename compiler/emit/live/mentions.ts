import type { Oid } from '../../catalog/catalog.ts'

/** The dependencies of an expression or a body besides its arguments. */
export type Fault =
  | { readonly kind: 'clock' | 'volatile' | 'unknown' }
  | { readonly kind: 'setting'; readonly name: string }

/** A name in a body that is looked up on a search path. */
export interface Named {
  readonly kind: 'relation' | 'function' | 'operator' | 'field' | 'cast'
  /** Null: the search path decides. */
  readonly schema: string | null
  readonly name: string
  /** The number of arguments of a function; null: unknown. */
  readonly args: number | null
}

export interface Mentions {
  readonly relations: readonly Oid[]
  readonly functions: readonly Oid[]
  readonly operators: readonly Oid[]
  readonly names: readonly Named[]
  readonly faults: readonly Fault[]
}

export const nothing: Mentions = { relations: [], functions: [], operators: [], names: [], faults: [] }

export const faulty = (kind: 'clock' | 'volatile' | 'unknown'): Mentions => ({ ...nothing, faults: [{ kind }] })

export const allMentions = (all: readonly Mentions[]): Mentions => ({
  relations: [...new Set(all.flatMap(({ relations }) => relations))],
  functions: [...new Set(all.flatMap(({ functions }) => functions))],
  operators: [...new Set(all.flatMap(({ operators }) => operators))],
  names: all.flatMap(({ names }) => names),
  faults: all.flatMap(({ faults }) => faults),
})
