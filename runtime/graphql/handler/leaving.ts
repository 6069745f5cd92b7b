import type { Caller, RequestContext } from '../../contract/execution.ts'
import { partyOf } from '../../http/request-context.ts'

/** The work of a request; the signal says that its client left. */
export async function whileWatched<T>(
  signal: AbortSignal,
  caller: Caller,
  work: (context: RequestContext) => Promise<T>,
): Promise<T> {
  const context: RequestContext = {
    ...partyOf(caller, () => ''),
    deadline: Infinity,
    timeline: null,
    position: null,
    gone: signal.aborted,
    onGone: null,
  }
  const leave = (): void => {
    context.gone = true
    context.onGone?.()
  }
  signal.addEventListener('abort', leave)
  try {
    return await work(context)
  } finally {
    signal.removeEventListener('abort', leave)
  }
}
