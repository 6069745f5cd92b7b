import { objectId } from '../../../runtime/contract/facts.ts'
import { argumentsOfKey, type LookupColumn } from '../../../runtime/contract/lookups.ts'
import type { EntityFacts } from '../../../runtime/contract/manifest.ts'
import type { Memo } from '../../../runtime/lib/memo/memo.ts'
import type { Annotated } from '../../comments/annotated.ts'
import type { Entity } from '../../model/entities.ts'

/** The types of a relation that the addition brings. */
export const parts = {
  keyInput: 'KeyInput',
  parentInput: 'ParentInput',
  childInput: 'ChildInput',
  childrenInput: 'ChildrenInput',
  relatedInput: 'RelatedInput',
  parentChange: 'ParentChange',
  optionalParentChange: 'OptionalParentChange',
  childChange: 'ChildChange',
  movableChildChange: 'MovableChildChange',
  optionalChildChange: 'OptionalChildChange',
  childrenChange: 'ChildrenChange',
  movableChildrenChange: 'MovableChildrenChange',
  optionalChildrenChange: 'OptionalChildrenChange',
} as const

type Parts = typeof parts

declare module '../../../runtime/contract/name-parts.ts' {
  interface AddedParts extends Parts {}
}

declare module '../../../runtime/contract/manifest.ts' {
  interface EntityAdditions {
    /** Its insert takes related rows. */
    readonly nestedWrites?: true
  }
  interface EntityFacts {
    /** No trigger or default of the owner reads other rows on insert. */
    readonly selfContained?: true
  }
}

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
} as const satisfies Readonly<Partial<Record<keyof Parts, ChangeForm>>>

export type ChangePart = keyof typeof changeForms

export const changeParts = Object.keys(changeForms) as readonly ChangePart[]

/** The keys by which a related row is named (spec/graphql.md 17.6), the primary one first. */
export const connectKeysOf = (entity: EntityFacts): readonly (readonly LookupColumn[])[] =>
  entity.key.length === 0
    ? []
    : [entity.key, ...(entity.rowKeys ?? []).map(({ columns }) => columns)].flatMap((columns) => {
        const found = argumentsOfKey(entity, { columns })
        return found === null ? [] : [found]
      })

/** Marks relations for which inserts of related rows may be combined unobservably (spec/graphql.md 17.6). */
export function withSelfContained(memo: Memo, annotated: Annotated, entities: readonly Entity[]): readonly Entity[] {
  const { selfContained = [], relations } = annotated
  if (selfContained.length === 0 || !entities.some(({ facts }) => facts.nestedWrites === true)) return entities
  const found = new Set(selfContained)
  const ids = new Set(relations.flatMap(({ oid, schema, name }) => (found.has(oid) ? [objectId(schema, name)] : [])))
  return entities.map((entity) => (ids.has(entity.facts.id) ? memo.of(markedEntity, entity) : entity))
}

const markedEntity = ({ facts, sql }: Entity): Entity => ({ facts: { ...facts, selfContained: true }, sql })
