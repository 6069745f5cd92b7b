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

/** After this time a confirmed change is no longer shown, even if no answer has come: it may not concern the stream. */
const longestConfirmedMs = 1_000

export function createLiveStore<Value>(
  watch: Watch<Value>,
  given: Fields,
  patch = false,
  initial?: Value,
): LiveStore<Value> {
  const shown = createShown<Value, LiveState<Value>>({ data: initial, loading: true, error: null, lost: null })
  const listener: LiveListener<Value> = ({ data, error }) => {
    if (error === null) shown.answer({ data, loading: false, error })
    else shown.set({ loading: false, error })
  }
  return {
    get: shown.get,
    subscribe: shown.subscribe,
    start: () => {
      try {
        return watch(given, listener, { patch, onConnection: (lost) => shown.set({ lost }) }).stop
      } catch (thrown) {
        shown.set({ loading: false, error: toGraphqlError(thrown) })
        return () => undefined
      }
    },
    change: (update) =>
      shown.change(update, (drop) => {
        if (!shown.takeWaiting()) setTimeout(drop, longestConfirmedMs)
      }),
  }
}
