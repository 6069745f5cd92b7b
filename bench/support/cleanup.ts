type Close = () => Promise<unknown> | unknown

/**
 * Lends `later`, which collects cleanups. All of them run in reverse order when the work ends, fails or is interrupted
 * (SIGINT, SIGTERM; the process then ends with 128 + the signal's number).
 */
export const withCleanup = async <T>(work: (later: (close: Close) => void) => Promise<T>): Promise<T> => {
  const closing: Close[] = []
  const closeAll = async (): Promise<void> => {
    for (let close = closing.pop(); close !== undefined; close = closing.pop()) await close()
  }
  const stop = (number: number) => () => void closeAll().finally(() => process.exit(128 + number))
  const [onInterrupt, onTerminate] = [stop(2), stop(15)]
  process.once('SIGINT', onInterrupt)
  process.once('SIGTERM', onTerminate)
  try {
    return await work((close) => void closing.push(close))
  } finally {
    await closeAll()
    process.off('SIGINT', onInterrupt)
    process.off('SIGTERM', onTerminate)
  }
}
