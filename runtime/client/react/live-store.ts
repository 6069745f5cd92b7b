import { toGraphqlError, type GraphqlError } from '../graphql.ts'
import type { Fields } from '../json.ts'
import type { LiveListener, LiveOptions, LiveStream } from '../live/live.ts'
import { createShown, type Change, type Shown, type ShownState, type Update } from './shown.ts'

export interface LiveState<Value> extends ShownState<Value> {
  /** Why the connection is lost; it is retried until it is restored. Null: it is there. */
  readonly lost: GraphqlError | null
}

export interface LiveStore<Value> extends Pick<Shown<Value, LiveState<Value>>, 'get' | 'subscribe'> {
  /** Opens the stream; returns the function that stops it. */
  readonly start: () => () => void
  readonly change: (update: Update<Value>) => Change
}

export type Watch<Value> = (given: Fields, listener: LiveListener<Value>, options?: LiveOptions) => LiveStream

/**
 * How long a confirmed change is shown at most: it may not concern the stream. And how long after the first answer: that
 * may be of an earlier change.
 */
const [longestMs, quietMs] = [1_000, 200]

export function createLiveStore<Value>(
  watch: Watch<Value>,
  given: Fields,
  patch = false,
  initial?: Value,
): LiveStore<Value> {
  const shown = createShown<Value, LiveState<Value>>({ data: initial, loading: true, error: null, lost: null })
  // Mutations with changes here; an answer that waits for them; the end of the wait after the last one.
  let running = 0
  let later: Partial<LiveState<Value>> | null = null
  let timer: ReturnType<typeof setTimeout> | null = null
  const take = (): void => {
    if (timer !== null) clearTimeout(timer)
    timer = null
    if (running > 0) return
    shown.answer(later ?? {})
    later = null
  }
  const waitFor = (milliseconds: number): void => {
    if (timer !== null) clearTimeout(timer)
    timer = setTimeout(take, milliseconds)
  }
  const listener: LiveListener<Value> = ({ data, error }) => {
    if (error !== null) return shown.set({ loading: false, error })
    const isFirst = later === null
    later = { data, loading: false, error }
    if (running === 0 && timer === null) take()
    else if (isFirst && timer !== null) waitFor(quietMs)
  }
  return {
    get: shown.get,
    subscribe: shown.subscribe,
    start: () => {
      try {
        const { stop } = watch(given, listener, { patch, onConnection: (lost) => shown.set({ lost }) })
        return () => {
          stop()
          if (timer !== null) clearTimeout(timer)
        }
      } catch (thrown) {
        shown.set({ loading: false, error: toGraphqlError(thrown) })
        return () => undefined
      }
    },
    change: (update) => {
      const show = shown.change(update, () => waitFor(later === null ? longestMs : quietMs))
      return () => {
        running += 1
        const { confirm, drop } = show()
        return {
          confirm: () => {
            running -= 1
            confirm()
          },
          drop: () => {
            running -= 1
            drop()
            if (timer === null) take()
          },
        }
      }
    },
  }
}
