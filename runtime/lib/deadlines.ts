import { createBag } from './bag.ts'

/** Sets a deadline: `passed` is called after so many milliseconds, unless the result is called earlier. */
export type SetDeadline = (ms: number, passed: () => void) => () => void

interface Deadline {
  readonly at: number
  readonly passed: () => void
  forget: () => boolean
}

/**
 * Thousands of deadlines per second on one timer, for those almost always cancelled: setting one is an entry in a bag.
 * They are checked every `everyMs` milliseconds, so one may be that much late, and never early. They do not keep the
 * process alive.
 */
export function createDeadlines(everyMs: number): SetDeadline {
  const open = createBag<Deadline>()
  let timer: NodeJS.Timeout | null = null
  const look = (): void => {
    const now = performance.now()
    for (const deadline of open.all()) {
      // An earlier callback may have cancelled this one.
      if (deadline.at <= now && deadline.forget()) deadline.passed()
    }
    if (open.size() > 0 || timer === null) return
    clearInterval(timer)
    timer = null
  }
  return (ms, passed) => {
    const deadline: Deadline = { at: performance.now() + ms, passed, forget: () => false }
    deadline.forget = open.add(deadline)
    timer ??= setInterval(look, everyMs).unref()
    return deadline.forget
  }
}
