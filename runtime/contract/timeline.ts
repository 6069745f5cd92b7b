/**
 * When the phases of a request ended, on the monotonic clock in milliseconds; 0: not reached. Kept for metrics, traces,
 * and the log of slow and failed requests.
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

/** The phases of a request. */
export type Phase = 'prepare' | 'queue' | 'database'

/** Start and end of each phase that a request reached. */
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
