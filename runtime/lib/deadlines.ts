import { createBag } from './bag.ts'

/** Sets a deadline: `passed` is called after so many milliseconds, unless the result was called before. */
export type SetDeadline = (ms: number, passed: () => void) => () => void

interface Deadline {
  readonly at: number
  readonly passed: () => void
  forget: () => boolean
}

/**
 * Deadlines by the thousand a second on one timer, for what almost always ends before: setting one is an entry in a bag. They are
 * looked at every `everyMs` milliseconds, so one may pass that much late, and never early. They do not keep the process.
 */
export function createDeadlines(everyMs: number): SetDeadline {
  const open = createBag<Deadline>()
  let timer: NodeJS.Timeout | null = null
  const look = (): void => {
    const now = performance.now()
    for (const deadline of open.all()) {
      // One that passed before may have ended this one.
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
