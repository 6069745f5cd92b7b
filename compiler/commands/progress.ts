/** Tells a person what a command works on. */
export type Stage = (text: string) => void

/** Work that is over before this is not worth a line. */
const quietMs = 1_000
/** How often it is told that the same stage still lasts. */
const againMs = 10_000

/** A stage is told once it lasts longer than a second, and then how long it does. Its timers keep no process alive. */
export function createStage(note: (line: string) => void): Stage {
  let timer: NodeJS.Timeout | null = null
  return (text) => {
    if (timer !== null) clearTimeout(timer)
    const started = performance.now()
    const tell = (): void => {
      const seconds = Math.round((performance.now() - started) / 1_000)
      note(seconds < 2 ? `${text} ...` : `${text} ... ${seconds} s`)
      timer = setTimeout(tell, againMs).unref()
    }
    timer = setTimeout(tell, quietMs).unref()
  }
}

/** Nobody reads along. */
export const unseen: Stage = () => undefined
