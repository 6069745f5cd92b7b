import type { ElementForm, NodeTable } from './cursors-and-node-ids.ts'

/** Values of a plan: where each comes from, and how it travels. */

/** Where a value comes from when the request is bound. */
export type Slot =
  | {
      readonly kind: 'constant'
      readonly value: unknown
      /** It came beside the document, so that nothing of it is written into a statement. */
      readonly sent?: true
      /** It stands in a comment, so that it is the same in every request and a part of the statement. */
      readonly stated?: true
    }
  | { readonly kind: 'variable'; readonly path: readonly (string | number)[] }
  /** SQL of type text of the caller's claims (run/tenants.ts). */
  | { readonly kind: 'tenant'; readonly expression: string }
  | { readonly kind: 'list'; readonly items: readonly Slot[] }
  | { readonly kind: 'object'; readonly fields: readonly (readonly [name: string, slot: Slot])[] }
  /** Of a list of objects, those that lie within them on a path, in order. */
  | { readonly kind: 'within'; readonly of: Slot; readonly path: readonly InputStep[] }
  /** For each of these, from 1 on, which one of those it lies in that are a step above. */
  | { readonly kind: 'outer-places'; readonly of: Slot; readonly path: readonly InputStep[] }
  /** For each of these, which one of those a step further it holds; null: none. */
  | {
      readonly kind: 'inner-places'
      readonly of: Slot
      readonly path: readonly InputStep[]
      readonly step: InputStep
    }

/** From an object to those of related rows (spec/graphql.md 17.6). */
export interface InputStep {
  /** The relation. */
  readonly field: string
  readonly member: 'insert' | 'connect' | 'update' | 'disconnect' | 'delete'
  /** Of those that name a key only the ones that name these fields. */
  readonly key?: readonly string[]
}

/** How a value becomes the text of a parameter. */
export type Encoding =
  /** A scalar; longer texts than `maxLength` characters are refused (spec/graphql.md 3.4). */
  | { readonly kind: 'scalar'; readonly maxLength: number | null }
  /** A list as an array literal. */
  | { readonly kind: 'array'; readonly maxLength: number | null }
  /** One element of a cursor. */
  | { readonly kind: 'cursor'; readonly index: number; readonly form: ElementForm; readonly of?: CursorType }
  /** One key value of a node id that must name this relation. */
  | { readonly kind: 'node-key'; readonly entity: NodeTable; readonly index: number; readonly form: ElementForm }
  /** A whole row count that must not be negative. */
  | { readonly kind: 'offset' }
  /** How many there may be; not negative. */
  | { readonly kind: 'most' }
  /** A part of 1. */
  | { readonly kind: 'part' }
  /** A number above 0. */
  | { readonly kind: 'width' }
  /** How far away; not negative. */
  | { readonly kind: 'distance' }
  /** A list of objects as a JSON array of records whose members are c0, c1, ... */
  | {
      readonly kind: 'records'
      readonly members: readonly { readonly name: string; readonly maxLength: number | null }[]
    }
  /** What stands at a path in each object of a list, as an array literal; of lists it has their literals. */
  | {
      readonly kind: 'each'
      readonly path: readonly string[]
      readonly list: boolean
      readonly maxLength: number | null
    }
  /** How many items a list has. */
  | { readonly kind: 'count' }
  /** Whether something stands there, as an array literal. */
  | { readonly kind: 'each-given'; readonly path: readonly string[] }

/** The element of a cursor that names a type. */
export interface CursorType {
  readonly at: number
  /** Of a cursor with another name there the value is null. */
  readonly name: string
}

export interface Value {
  readonly slot: Slot
  readonly encoding: Encoding
}
