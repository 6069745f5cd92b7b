import { argumentsOfKey, wordsOf, type RowKey } from '../../../runtime/contract/lookups.ts'
import type { EntityFacts } from '../../../runtime/contract/manifest.ts'
import { baseOfField, rootField } from '../../../runtime/contract/name-parts.ts'

/** The types of a relation that the addition brings. */
export const parts = {
  rowInput: 'RowInput',
  increment: 'IncrementInput',
  multiply: 'MultiplyInput',
  append: 'AppendInput',
  prepend: 'PrependInput',
  remove: 'RemoveInput',
  setKey: 'SetKeyInput',
  unsetKey: 'UnsetKeyInput',
} as const

type Parts = typeof parts

declare module '../../../runtime/contract/name-parts.ts' {
  interface AddedParts extends Parts {}
}

declare module '../../../runtime/contract/manifest.ts' {
  interface EntityAdditions {
    /** Its rows are changed by keys and by operators. */
    readonly updates?: true
  }
  interface Manifest {
    /** Some relation has `updates` on, which adds the types of its operators. */
    readonly updates?: true
  }
}

export const typeNames = ['JSONSetKey', 'JSONUnsetKey']

/** The keys that a relation's names allow, the primary one first. */
export function rowKeysOf(entity: EntityFacts): readonly RowKey[] {
  const { name, key, unique, rowKeys = [], updates } = entity
  if (updates !== true || key.length === 0) return []
  return [{ columns: key, unique }, ...rowKeys].flatMap((facts, place): readonly RowKey[] => {
    const columns = argumentsOfKey(entity, facts)
    if (columns === null) return []
    const by = place === 0 ? 'Pk' : wordsOf(columns)
    return [
      {
        columns,
        unique: facts.unique,
        isPrimary: place === 0,
        update: `update${name}By${by}`,
        delete: `delete${name}By${by}`,
      },
    ]
  })
}

/** The fields that it adds to Mutation for a role with all privileges. */
export const mutationNames = (entity: EntityFacts): readonly string[] =>
  rowKeysOf(entity).flatMap((key) => [
    key.update,
    key.delete,
    ...(key.isPrimary ? [rootField('updateRows', entity.name)] : []),
  ])

/** Base names of relations that could have a field of this name which changes rows. */
export function basesOfChange(field: string): readonly string[] {
  const [, rest = ''] = /^(?:update|delete)(.*)$/.exec(field) ?? []
  const many = baseOfField('updateRows', field)
  return [
    ...(many === undefined ? [] : [many]),
    ...[...rest.matchAll(/(?<=.)By(?=.)/g)].map(({ index }) => rest.slice(0, index)),
  ]
}
