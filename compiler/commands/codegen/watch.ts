import { setTimeout as sleep } from 'node:timers/promises'
import { reasonOf } from '../../../runtime/db/failures/failures.ts'

export interface CodegenWatchOptions {
  readonly version: () => Promise<string>
  /** Called first and after each change; never concurrently. */
  readonly onChange: () => Promise<void>
  /** Receives a failure, once until another follows or it is over; watching continues. */
  readonly onFailure: (reason: string) => void
  readonly stopRequested: Promise<unknown>
}

const lookEveryMs = 1_000

/** Watches for changes until it is asked to stop. A failed version is tried again at the next look. */
export async function watch({ version, onChange, onFailure, stopRequested }: CodegenWatchOptions): Promise<void> {
  const stop = new AbortController()
  void stopRequested.then(() => stop.abort())
  let done: string | null = null
  let failure: string | null = null
  while (!stop.signal.aborted) {
    try {
      const seen = await version()
      if (seen !== done) await onChange()
      done = seen
      failure = null
    } catch (error) {
      const reason = reasonOf(error)
      if (reason !== failure) onFailure(reason)
      failure = reason
    }
    await sleep(lookEveryMs, null, { signal: stop.signal }).catch(() => undefined)
  }
}
