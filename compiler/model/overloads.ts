import type { ObjectId } from '../../runtime/contract/manifest.ts'
import { objectId } from '../../runtime/contract/facts.ts'
import type { Oid } from '../catalog/catalog.ts'
import type { AnnotatedFunction } from '../comments/annotated.ts'
import { additionsOfFunction } from './scalars.ts'
import type { ModelScope } from './scope.ts'

/** With `functionShapes` (spec/graphql.md 17) an overload is served under the name in its own comment. */
export const isDistinguished = (scope: ModelScope, fn: AnnotatedFunction): boolean =>
  additionsOfFunction(scope, fn).functionShapes && fn.settings.name !== null

/** The unique identity of a function. */
export type FunctionIdentity = Pick<AnnotatedFunction, 'schema' | 'name' | 'args'>

/** Identity of a function; that of an overload includes its argument types. */
export const functionId = ({ schema, name, args }: FunctionIdentity, overloaded: boolean): ObjectId =>
  overloaded ? JSON.stringify([schema, name, args.map(({ typeText }) => typeText).join(', ')]) : objectId(schema, name)

/**
 * Other functions of a schema and name. Postgres resolves a call by its arguments, and refuses one that several accept
 * without a cast, some of them by their defaults (PostgreSQL manual 10.3): types are compared by identity.
 */
export interface Overloads {
  /** Whether a call with all arguments is refused. */
  readonly meetAll: boolean
  /** Whether some call without this argument, which has a default, is refused or resolves to another one. */
  readonly meetWithout: (index: number) => boolean
}

/** @param byPlace the number of arguments passed by position, others by name */
export function overloadsOf(fn: AnnotatedFunction, others: readonly AnnotatedFunction[], byPlace: number): Overloads {
  const own = passable(fn, byPlace)
  const found = others.map((other) => passable(other, byPlace))
  const isShared = ({ types }: Passable, key: string): boolean =>
    own.types.has(key) && own.types.get(key) === types.get(key)
  return {
    meetAll: found.some(
      (other) => own.keys.every((key) => isShared(other, key)) && other.needed.every((key) => own.types.has(key)),
    ),
    meetWithout: (index) =>
      found.some((other) => {
        const passed = [...own.needed, ...other.needed]
        return !passed.includes(own.keys[index] ?? '') && passed.every((key) => isShared(other, key))
      }),
  }
}

interface Passable {
  /** By position or name. */
  readonly keys: readonly string[]
  readonly types: ReadonlyMap<string, Oid>
  /** Those without a default. */
  readonly needed: readonly string[]
}

function passable({ args, defaultCount }: AnnotatedFunction, byPlace: number): Passable {
  const keys = args.map(({ name }, place) => (place < byPlace ? `${place}` : `=${name}`))
  return {
    keys,
    types: new Map(args.map(({ type }, place) => [keys[place] ?? '', type])),
    needed: keys.slice(0, args.length - defaultCount),
  }
}
