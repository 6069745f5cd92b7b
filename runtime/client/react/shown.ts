import type { GraphqlError } from '../graphql.ts'

/** The state of a hook: the last answer of the service with the changes that it has not confirmed, and subscribers. */

export interface ShownState<Value> {
  /** Undefined until the first answer. */
  readonly data: Value | undefined
  /** An answer is awaited. */
  readonly loading: boolean
  /** Of the last request; the data before it stays. */
  readonly error: GraphqlError | null
}

export type Update<Value> = (value: Value) => Value

/** A change to show while a mutation runs: `mutate(given, change)`. */
export type Change = () => {
  /** The service has made it: it is shown until an answer contains it. */
  readonly confirm: () => void
  /** The mutation failed. */
  readonly drop: () => void
}

interface Pending<Value> {
  readonly update: Update<Value>
  isConfirmed: boolean
}

export interface Shown<Value, State extends ShownState<Value>> {
  readonly get: () => State
  readonly subscribe: (listener: () => void) => () => void
  readonly set: (part: Partial<State>) => void
  readonly confirmed: () => readonly Pending<Value>[]
  /**
   * Takes an answer, and removes the changes that it contains: by default all confirmed ones. While a mutation runs, the
   * answer waits: it may contain the change or not, and would show a new row twice.
   */
  readonly answer: (part: Partial<State>, contained?: readonly Pending<Value>[]) => void
  readonly dropWaiting: () => void
  /** `onConfirmed` brings an answer, which contains the change. */
  readonly change: (update: Update<Value>, onConfirmed: () => void) => Change
}

export function createShown<Value, State extends ShownState<Value>>(first: State): Shown<Value, State> {
  let [answered, shown] = [first, first]
  let waiting: (() => void) | null = null
  const changes = new Set<Pending<Value>>()
  const listeners = new Set<() => void>()
  const show = (part: Partial<State>): void => {
    answered = { ...answered, ...part }
    const { data } = answered
    shown =
      data === undefined || changes.size === 0
        ? answered
        : { ...answered, data: [...changes].reduce<Value>((value, { update }) => update(value), data) }
    for (const listener of [...listeners]) listener()
  }
  const confirmed = (): readonly Pending<Value>[] => [...changes].filter(({ isConfirmed }) => isConfirmed)
  const takeWaiting = (): boolean => {
    if (waiting === null || confirmed().length < changes.size) return false
    waiting()
    waiting = null
    return true
  }
  return {
    get: () => shown,
    subscribe: (listener) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    set: show,
    confirmed,
    answer: (part, contained) => {
      waiting = () => {
        for (const change of contained ?? confirmed()) changes.delete(change)
        show(part)
      }
      takeWaiting()
    },
    dropWaiting: () => void (waiting = null),
    change: (update, onConfirmed) => () => {
      const change: Pending<Value> = { update, isConfirmed: false }
      const drop = (): void => {
        if (changes.delete(change) && !takeWaiting()) show({})
      }
      changes.add(change)
      show({})
      return {
        confirm: () => {
          change.isConfirmed = true
          onConfirmed()
        },
        drop,
      }
    },
  }
}
