import type { InputStep } from '../plan/values.ts'

/** Access to nested objects in a request's input. */

export const itemsOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [value])

/** Names that every object has, such as "toString", are fields only if they are given. */
export const valueAt = (item: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>(
    (value, name) =>
      Object.hasOwn(Object(value), name) ? (value as Readonly<Record<string, unknown>>)[name] : undefined,
    item,
  )

/** The objects on a path within these, in order. */
export const objectsWithin = (objects: readonly unknown[], path: readonly InputStep[]): readonly unknown[] =>
  path.reduce<readonly unknown[]>((found, step) => found.flatMap((object) => pick(object, step)), objects)

/** For each object on a path, the number, from 1 on, of its parent object. */
export const outerPlaces = (objects: readonly unknown[], path: readonly InputStep[]): readonly number[] => {
  const last = path.at(-1)
  const above = objectsWithin(objects, path.slice(0, -1))
  return last === undefined ? [] : above.flatMap((object, index) => pick(object, last).map(() => index + 1))
}

/** For each object, the number, from 1 on, of its child at the next step; null: none. */
export const innerPlaces = (objects: readonly unknown[], step: InputStep): readonly (number | null)[] => {
  let place = 0
  return objects.map((object) => (pick(object, step).length === 0 ? null : (place += 1)))
}

function pick(object: unknown, { field, member, key }: InputStep): readonly unknown[] {
  const found = valueAt(object, [field, member])
  if (found === null || found === undefined) return []
  return itemsOf(found).filter((item) => key === undefined || namesAll(item, key))
}

const namesAll = (item: unknown, key: readonly string[]): boolean => {
  const names = Object.keys(Object(item))
  return names.length === key.length && key.every((name) => names.includes(name))
}
