import { within } from './within.ts'

export interface Watch<Sight> {
  /** Rejects if the server is not available. */
  readonly look: () => Promise<Sight>
  /** @param at when the question was sent, on the monotonic clock in milliseconds */
  readonly seen: (sight: Sight, at: number) => void
  readonly failed: (error: unknown) => void
  /** Also called if it failed without an answer. */
  readonly silent?: () => void
  /** The pause before the next look, in milliseconds. */
  readonly pauseMs: () => number
  /** The time limit of a look, in milliseconds. */
  readonly silentMs: number
}

/** Looks repeatedly until the result is called. It keeps no process alive. */
export function watchServer<Sight>({ look, seen, failed, silent, pauseMs, silentMs }: Watch<Sight>): () => void {
  let timer: NodeJS.Timeout | null = null
  let isOver = false
  const round = async (): Promise<void> => {
    const at = performance.now()
    // One question at a time, also to a silent server.
    const answered = look().then(
      (sight) => isOver || seen(sight, at),
      (error: unknown) => isOver || failed(error),
    )
    if (!(await within(silentMs, answered)) && !isOver) {
      failed(new Error(`no answer within ${silentMs} ms`))
      silent?.()
    }
    await answered
    if (!isOver) timer = setTimeout(() => void round(), pauseMs()).unref()
  }
  void round()
  return () => {
    isOver = true
    if (timer !== null) clearTimeout(timer)
  }
}
