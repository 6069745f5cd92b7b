/** Sets a deadline: `passed` is called after so many milliseconds, unless the result was called before. */
export type SetDeadline = (ms: number, passed: () => void) => () => void

interface Deadline {
  readonly at: number
  readonly passed: () => void
}

/**
 * Deadlines by the thousand a second on one timer, for what almost always ends before: setting one is an entry in a set. They are
 * looked at every `everyMs` milliseconds, so one may pass that much late, and never early. They do not keep the process.
 */
export function createDeadlines(everyMs: number): SetDeadline {
  const open = new Set<Deadline>()
  let timer: NodeJS.Timeout | null = null
  const look = (): void => {
    const now = performance.now()
    for (const deadline of open) {
      if (deadline.at > now) continue
      open.delete(deadline)
      deadline.passed()
    }
    if (open.size > 0 || timer === null) return
    clearInterval(timer)
    timer = null
  }
  return (ms, passed) => {
    const deadline = { at: performance.now() + ms, passed }
    open.add(deadline)
    timer ??= setInterval(look, everyMs).unref()
    return () => void open.delete(deadline)
  }
}
