import { afterAll, beforeAll } from 'vitest'

/** A resource that a suite opens and ends. */
type Ended = { readonly close: () => unknown } | { readonly stop: () => unknown } | { readonly drop: () => unknown }

const end = (made: Ended): unknown => ('close' in made ? made.close() : 'stop' in made ? made.stop() : made.drop())

/** A service, server or database of the suite that calls this: made before its tests and ended after them. */
export function forSuite<T extends Ended, Given extends readonly unknown[]>(
  make: (...given: Given) => Promise<T>,
  ...given: Given
): T {
  let made: T | undefined
  // A cluster of servers takes longest.
  beforeAll(async () => {
    made = await make(...given)
  }, 120_000)
  afterAll(() => made && end(made))
  return new Proxy({} as T, {
    get: (_, name) => {
      if (made === undefined) throw new Error(`Before its tests, the suite has nothing to read ${String(name)} of.`)
      return Reflect.get(made, name)
    },
  })
}
