export type Stage = (text: string) => void

/** Shorter work is not reported. */
const quietMs = 1_000
/** The interval of repeated reports of one stage. */
const againMs = 10_000

/** Reports a stage that lasts longer than a second, repeatedly with its duration. Its timers keep no process alive. */
export function createStage(note: (line: string) => void): Stage {
  let timer: NodeJS.Timeout | null = null
  return (text) => {
    if (timer !== null) clearTimeout(timer)
    const started = performance.now()
    const report = (): void => {
      const seconds = Math.round((performance.now() - started) / 1_000)
      note(seconds < 2 ? `${text} ...` : `${text} ... ${seconds} s`)
      timer = setTimeout(report, againMs).unref()
    }
    timer = setTimeout(report, quietMs).unref()
  }
}

export const unseen: Stage = () => undefined
