import type { Writable } from 'node:stream'

/** Standard output or standard error of a command: pipes take what is written when their reader does, not at once. */
export interface Output {
  /** Writes a line; nothing where the reader left. */
  readonly line: (text: string) => void
  /** Resolves once the reader has everything, with why it cannot get it. Null: nothing, or a reader that left by itself. */
  readonly finish: () => Promise<string | null>
}

/** Codes of a write to a pipe or socket that nobody reads from any more. */
const leaving: ReadonlySet<string> = new Set(['EPIPE', 'ECONNRESET', 'EOF'])

/** @param onLeft is called when the reader is found to have left */
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
        // Written after everything else, so it is done after it.
        stream.write('', (error) => {
          hear(error)
          resolve(failure)
        })
      }),
  }
}
