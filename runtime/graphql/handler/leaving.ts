import type { Caller, RequestContext } from '../../contract/execution.ts'
import { newContext, partyOf } from '../../http/request-context.ts'

/** The work of a request; the signal reports that its client disconnected. */
export async function whileWatched<T>(
  signal: AbortSignal,
  caller: Caller,
  work: (context: RequestContext) => Promise<T>,
): Promise<T> {
  const context = newContext(
    partyOf(caller, () => ''),
    0,
  )
  context.aborted = signal.aborted
  const leave = (): void => {
    context.aborted = true
    context.onAbort?.()
  }
  signal.addEventListener('abort', leave)
  try {
    return await work(context)
  } finally {
    signal.removeEventListener('abort', leave)
  }
}
