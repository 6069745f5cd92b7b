import { asking } from '../callers.ts'
import { codeOf, sendAndLeave, type Arms, type Attack } from '../arms.ts'

/** Clients that make the server cancel statements right when they end. */

/** Texts in the answer of a cancelled statement. */
const cancelled = /57014|QUERY_CANCELED|canceling|STATEMENT_TIMEOUT|DEADLINE_EXCEEDED|took longer/i

/** A caller whose statements are short, and must not be cancelled. */
const neighbour = async (arms: Arms): Promise<void> => {
  const caller = arms.stranger()
  while (!arms.isOver()) {
    const sent = performance.now()
    const answer = await arms.ask(asking(caller, `{ nap(seconds: 0.03, mark: ${arms.marks.next()}) }`))
    const text = answer?.body.toString('utf8', 0, 400) ?? ''
    // A caller who waited for a connection until its deadline was not cancelled.
    const isOwn = performance.now() - sent >= arms.limits.requestMs
    if (answer !== null && codeOf(answer) !== 'ok' && cancelled.test(text) && !isOwn)
      arms.verdicts.fail('strays', text, sent)
  }
}

/** Leaves around the end of a statement of 30 ms, and comes again at once. */
const leaver = async (arms: Arms): Promise<void> => {
  const address = arms.address()
  while (!arms.isOver()) {
    const mark = arms.marks.next()
    await sendAndLeave(arms, asking(arms.anon, `{ nap(seconds: 0.03, mark: ${mark}) }`), 25 + arms.random(20), address)
    arms.marks.left(mark)
  }
}

const cancelledCancels: Attack['run'] = async (arms) => {
  const leavers = Array.from({ length: 6 }, () => leaver(arms))
  await Promise.all([...leavers, neighbour(arms), neighbour(arms)])
}

/** A cancellation that is not heeded is followed by the end of the session, which takes longer. */
const stubbornMs = 2_000

/** Functions that go on when they are cancelled: only the end of their session ends them. */
const stubborn: Attack['run'] = async (arms) => {
  while (!arms.isOver()) {
    const mark = arms.marks.next(stubbornMs)
    const bytes = asking(arms.anon, `{ stubborn(seconds: 20, mark: ${mark}) }`)
    await Promise.all(Array.from({ length: 8 }, () => sendAndLeave(arms, bytes, 100 + arms.random(300))))
    arms.marks.left(mark)
    await arms.rest(arms.random(500))
  }
}

export const cancels: readonly Attack[] = [
  {
    name: 'cancelled cancels',
    does: 'clients leave around the end of their statements and come again at once',
    relaxes: {},
    run: cancelledCancels,
  },
  {
    name: 'functions that catch cancellations',
    does: 'eight clients call a function that catches query_canceled, and leave',
    relaxes: { prompt: 'honest strangers wait until the sessions are ended' },
    endsSessions: true,
    run: stubborn,
  },
]
