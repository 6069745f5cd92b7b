const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** npm hands a terminal's Ctrl-C on to us once more; within this time a second signal is the same wish. */
const sameWishMs = 1_000

/** Exit code of a process that was interrupted, as shells count it: 128 and the signal's number. */
const interrupted = 130

/**
 * Resolves with the first signal that asks the process to end. A later one ends it at once, for those who do not want
 * to wait for running requests.
 * @param onReload takes SIGHUP as the wish to begin again; null: it asks for the end as the others do
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
