import type { Writable } from 'node:stream'

/** Standard output or standard error of a command: pipes accept data asynchronously. */
export interface Output {
  /** Writes a line; does nothing if the reader disconnected. */
  readonly line: (text: string) => void
  /** Resolves once the reader has everything, with the reason of a failure; null: success, or it disconnected. */
  readonly finish: () => Promise<string | null>
}

/** Codes of a write to a pipe or socket without a reader. */
const leaving: ReadonlySet<string> = new Set(['EPIPE', 'ECONNRESET', 'EOF'])

/** @param onLeft is called when the reader has disconnected */
export function createOutput(stream: Writable, onLeft: () => void): Output {
  let isLeft = false
  let failure: string | null = null
  const hear = (error: Error | null | undefined): void => {
    if (error === null || error === undefined || isLeft) return
    const code = (error as NodeJS.ErrnoException).code ?? error.message
    isLeft = leaving.has(code)
    if (isLeft) onLeft()
    else failure ??= code
  }
  stream.on('error', hear)
  return {
    line: (text) => {
      if (!isLeft && failure === null) stream.write(`${text}\n`, hear)
    },
    finish: () =>
      new Promise((resolve) => {
        if (isLeft || failure !== null) return resolve(failure)
        // Written last, so it completes last.
        stream.write('', (error) => {
          hear(error)
          resolve(failure)
        })
      }),
  }
}
