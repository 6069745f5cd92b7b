/**
 * When the parts of a request were over, on the monotonic clock in milliseconds; 0: the request did not come so far. Kept
 * for those who watch: metrics, traces, the log of slow and failed requests.
 */
export interface Timeline {
  readonly arrived: number
  /** Its statements were known and bound. */
  prepared: number
  /** It had a connection. */
  lent: number
  /** Postgres had answered. */
  answered: number
}

/** The part of a request that each of the spans of time was spent on. */
export type Phase = 'prepare' | 'queue' | 'database'

/** Beginning and end of each phase that a request went through. */
export function phasesOf({
  arrived,
  prepared,
  lent,
  answered,
}: Timeline): readonly (readonly [Phase, number, number])[] {
  if (prepared === 0) return []
  const prepare = ['prepare', arrived, prepared] as const
  if (lent === 0) return [prepare]
  const queue = ['queue', prepared, lent] as const
  return answered === 0 ? [prepare, queue] : [prepare, queue, ['database', lent, answered]]
}
