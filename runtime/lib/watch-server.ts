import { within } from './within.ts'

export interface Watch<Sight> {
  /** Rejects where the server is not to be had. */
  readonly look: () => Promise<Sight>
  /** @param at when the question was sent, on the monotonic clock in milliseconds */
  readonly seen: (sight: Sight, at: number) => void
  readonly failed: (error: unknown) => void
  /** Told as well where it has failed because no answer came. */
  readonly silent?: () => void
  /** How long to wait before the next look, in milliseconds. */
  readonly pauseMs: () => number
  /** After how many milliseconds without an answer a look has failed. */
  readonly silentMs: number
}

/** Looks again and again; returns what ends it. It keeps no process alive. */
export function watchServer<Sight>({ look, seen, failed, silent, pauseMs, silentMs }: Watch<Sight>): () => void {
  let timer: NodeJS.Timeout | null = null
  let isOver = false
  const round = async (): Promise<void> => {
    const at = performance.now()
    // One question at a time: a server that is silent has enough of them.
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
