import type { CorePart } from './name-parts.ts'

/** Inputs that change rows related to one that is updated by key (spec/graphql.md 17.6). */

interface ChangeForm {
  /** How the rows are related: the row that it references, or those that reference it. */
  readonly of: 'parent' | 'child' | 'children'
  /** Whether the relation's columns can get other values, and nulls. */
  readonly connects: boolean
  readonly disconnects: boolean
}

export const changeForms = {
  parentChange: { of: 'parent', connects: true, disconnects: false },
  optionalParentChange: { of: 'parent', connects: true, disconnects: true },
  childChange: { of: 'child', connects: false, disconnects: false },
  movableChildChange: { of: 'child', connects: true, disconnects: false },
  optionalChildChange: { of: 'child', connects: true, disconnects: true },
  childrenChange: { of: 'children', connects: false, disconnects: false },
  movableChildrenChange: { of: 'children', connects: true, disconnects: false },
  optionalChildrenChange: { of: 'children', connects: true, disconnects: true },
} as const satisfies Readonly<Partial<Record<CorePart, ChangeForm>>>

export type ChangePart = keyof typeof changeForms

export const changeParts = Object.keys(changeForms) as readonly ChangePart[]
