const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** npm repeats a terminal's Ctrl-C; within this time a second signal counts as the same. */
const sameWishMs = 1_000

/** Exit code of an interrupted process in shells: 128 and the signal's number. */
const interrupted = 130

/**
 * Resolves with the first signal that asks the process to end. A later one ends it immediately, without waiting for
 * running requests.
 * @param onReload called on SIGHUP; null: SIGHUP asks for the end like the others
 */
export function awaitStopSignal(onReload: (() => void) | null = null): Promise<string> {
  return new Promise((resolve) => {
    let askedAt: number | null = null
    const ask = (signal: NodeJS.Signals): void => {
      if (askedAt !== null && performance.now() - askedAt > sameWishMs) process.exit(interrupted)
      askedAt ??= performance.now()
      resolve(signal)
    }
    for (const signal of signals) process.on(signal, signal === 'SIGHUP' ? (onReload ?? ask) : ask)
  })
}
