import type { ObjectId } from '../../runtime/contract/manifest.ts'
import { objectId } from '../../runtime/contract/object-id.ts'
import type { Oid } from '../catalog/catalog.ts'
import type { AnnotatedFunction } from '../comments/annotated.ts'
import { additionsOfFunction } from './scalars.ts'
import type { ModelScope } from './scope.ts'

/** With `functionShapes` (spec/graphql.md 17) an overload is served under the name that its own comment gives it. */
export const isToldApart = (scope: ModelScope, fn: AnnotatedFunction): boolean =>
  additionsOfFunction(scope, fn).functionShapes && fn.settings.name !== null

/** What tells a function from all others. */
export type FunctionIdentity = Pick<AnnotatedFunction, 'schema' | 'name' | 'args'>

/** Identity of a function; that of an overload names its argument types, too. */
export const functionId = ({ schema, name, args }: FunctionIdentity, overloaded: boolean): ObjectId =>
  overloaded ? JSON.stringify([schema, name, args.map(({ typeText }) => typeText).join(', ')]) : objectId(schema, name)

/**
 * Other functions of a schema and name. Postgres looks for one by what is passed, and refuses a call that several take
 * without a cast, some of them by their defaults (PostgreSQL manual 10.3): types are compared by identity.
 */
export interface Overloads {
  /** Whether a call with all arguments is refused. */
  readonly meetAll: boolean
  /** Whether some call without this argument, which has a default, is refused or reaches another one. */
  readonly meetWithout: (index: number) => boolean
}

/** @param byPlace how many arguments are passed by their place, others by their name */
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
  /** By place or name. */
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
