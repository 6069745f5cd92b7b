import { isDeepStrictEqual } from 'node:util'
import { refusalOf } from '../../../runtime/contract/facts.ts'
import type { Manifest } from '../../../runtime/contract/manifest.ts'
import type { RoleVisibility } from '../../../runtime/engine/view.ts'

/** The recorded reads of a role's view. Results that depend only on them are shared by roles with equal reads. */
export interface Seen {
  /** Records each answer. */
  readonly visible: RoleVisibility
  /** Whether another role has the same answers. */
  readonly isSeenBy: (other: RoleVisibility) => boolean
}

/** The answer of the same read for another role. */
type Ask = (other: RoleVisibility) => unknown

export function seenBy(visible: RoleVisibility): Seen {
  const answers: { readonly value: unknown; readonly ask: Ask }[] = []
  const note = (value: unknown, ask: Ask): void => void answers.push({ value, ask })
  const names = watched(visible.names, (other) => other.names, note)
  const { manifest, role } = visible
  const others = watched(visible, (other) => other, note)
  return {
    visible: new Proxy(visible, {
      get: (_, member) =>
        member === 'names'
          ? names
          : member === 'manifest'
            ? manifest
            : member === 'role'
              ? role
              : Reflect.get(others, member),
    }),
    isSeenBy: (other) =>
      other.manifest === manifest &&
      isDeepStrictEqual(besides(manifest, role), besides(manifest, other.role)) &&
      answers.every(({ value, ask }) => isDeepStrictEqual(value, ask(other))),
  }
}

/** Facts about a role besides its view: refusals by comments, and its tenant conditions. */
const besides = (manifest: Manifest, role: string): readonly unknown[] => [
  refusalOf(manifest, role),
  manifest.entities.filter(({ tenant }) => tenant?.policed?.exempt.includes(role)),
]

/** The object with its reads recorded: properties, and results of functions. */
function watched<T extends object>(
  object: T,
  find: (other: RoleVisibility) => T,
  note: (value: unknown, ask: Ask) => void,
): T {
  const known = new Map<string | symbol, unknown>()
  return new Proxy(object, {
    get: (_, member) => {
      if (known.has(member)) return known.get(member)
      const value: unknown = Reflect.get(object, member)
      const answer =
        typeof value === 'function'
          ? remembering(
              (given) => Reflect.apply(value, object, given),
              (given, answered) =>
                note(answered, (other) => {
                  const same = find(other)
                  return Reflect.apply(Reflect.get(same, member) as typeof value, same, given)
                }),
            )
          : value
      if (typeof value !== 'function') note(value, (other) => Reflect.get(find(other), member))
      known.set(member, answer)
      return answer
    },
  })
}

type Given = readonly unknown[]

/** A function of at most two arguments that caches the result of another, and records it. */
function remembering(
  call: (given: unknown[]) => unknown,
  note: (given: unknown[], answered: unknown) => void,
): (...given: Given) => unknown {
  const known = new Map<unknown, Map<unknown, { readonly answered: unknown }>>()
  return (...all) => {
    const given = all.slice(0, 2)
    const [first, second] = given
    const ofFirst = known.get(first) ?? new Map<unknown, { readonly answered: unknown }>()
    known.set(first, ofFirst)
    const before = ofFirst.get(second)
    if (before !== undefined) return before.answered
    const answered = call(given)
    ofFirst.set(second, { answered })
    note(given, answered)
    return answered
  }
}
