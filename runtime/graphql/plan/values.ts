import type { CountedElements } from '../../sql/operators.ts'
import type { ElementForm, NodeTable } from './cursors-and-node-ids.ts'

/** Values of a plan: their origin and encoding. */

/** The origin of a value when the request is bound. */
export type Slot =
  | {
      readonly kind: 'constant'
      readonly value: unknown
      /** It was sent beside the document, so it never becomes part of a statement. */
      readonly sent?: true
      /** It comes from a comment, so it is constant and part of the statement. */
      readonly stated?: true
    }
  | { readonly kind: 'variable'; readonly path: readonly (string | number)[] }
  /** SQL of type text over the caller's claims (run/pipeline.ts). */
  | { readonly kind: 'tenant'; readonly expression: string }
  | { readonly kind: 'list'; readonly items: readonly Slot[] }
  | { readonly kind: 'object'; readonly fields: readonly (readonly [name: string, slot: Slot])[] }
  /** The objects within a list of objects at a path, in order. */
  | { readonly kind: 'within'; readonly of: Slot; readonly path: readonly InputStep[] }
  /** For each of these, the number, from 1 on, of its parent object. */
  | { readonly kind: 'outer-places'; readonly of: Slot; readonly path: readonly InputStep[] }
  /** For each of these, the number of the child object at the next step; null: none. */
  | { readonly kind: 'inner-places'; readonly of: Slot; readonly path: readonly InputStep[]; readonly step: InputStep }

/** A step from an object to those of related rows (spec/graphql.md 17.6). */
export interface InputStep {
  /** The relation. */
  readonly field: string
  readonly member: 'insert' | 'connect' | 'update' | 'disconnect' | 'delete'
  /** Of the objects that name a key, only those that name these fields. */
  readonly key?: readonly string[]
}

export type Encoding =
  /** A scalar; longer texts than `maxLength` characters are refused (spec/graphql.md 3.4). */
  | { readonly kind: 'scalar'; readonly maxLength: number | null; readonly counted?: CountedElements }
  /** A list as an array literal. */
  | { readonly kind: 'array'; readonly maxLength: number | null; readonly counted?: CountedElements }
  /** One element of a cursor. */
  | { readonly kind: 'cursor'; readonly index: number; readonly form: ElementForm; readonly of?: CursorType }
  /** One key value of a node id that must name this relation. */
  | { readonly kind: 'node-key'; readonly entity: NodeTable; readonly index: number; readonly form: ElementForm }
  /** A whole number of rows that must not be negative. */
  | { readonly kind: 'offset' }
  /** A maximum count; not negative. */
  | { readonly kind: 'most' }
  /** Between 0 and 1. */
  | { readonly kind: 'part' }
  /** Greater than 0. */
  | { readonly kind: 'width' }
  /** A distance; not negative. */
  | { readonly kind: 'distance' }
  /** A list of objects as a JSON array of records with members c0, c1, ... */
  | {
      readonly kind: 'records'
      readonly members: readonly { readonly name: string; readonly maxLength: number | null }[]
    }
  /** The value at a path in each object of a list, as an array literal; nested lists become nested literals. */
  | {
      readonly kind: 'each'
      readonly path: readonly string[]
      readonly list: boolean
      readonly maxLength: number | null
    }
  /** The length of a list. */
  | { readonly kind: 'count' }
  /** Whether each object has a value at the path, as an array literal. */
  | { readonly kind: 'each-given'; readonly path: readonly string[] }

export interface CursorType {
  readonly at: number
  /** If the cursor has another name there, the value is null. */
  readonly name: string
}

export interface Value {
  readonly slot: Slot
  readonly encoding: Encoding
}
