import { asking } from '../callers.ts'
import type { Arms, Attack } from '../arms.ts'

/** Clients that ask for long answers and take their time with them. */

const answerBytes = 30_000_000

const askBig = async (arms: Arms, address: string): Promise<ReturnType<Arms['open']>> => {
  const socket = await arms.open(address)
  socket?.write(asking(arms.anon, `{ big(size: ${answerBytes}, mark: ${arms.marks.next()}) }`))
  return socket
}

/** Postgres cannot interrupt some computations, which take both processors of a small machine for seconds. */
const crowd = {
  strangers: 'one who waits for seconds may meet the deadline, which is short here',
  heard: 'four answers of 30 MB at once take all that two processors have',
  prompt: 'four answers of 30 MB at once take all that two processors have',
} as const

/** Most of them at once, and they stay to the end. */
const notReading: Attack['run'] = async (arms) => {
  for (let index = 0; index < 80 && !arms.isOver(); index += 1) {
    await askBig(arms, arms.address())
    await arms.rest(25)
  }
  await arms.rest(60_000)
}

/** A few bytes every now and then, which keeps a clumsy clock from running out. */
const slowly: Attack['run'] = async (arms) => {
  const readers = Array.from({ length: 40 }, async (_, index) => {
    await arms.rest(index * 25)
    const socket = await askBig(arms, arms.address())
    socket?.pause()
    while (socket !== null && !socket.destroyed && !arms.isOver()) {
      socket.read(1_024)
      await arms.rest(100)
    }
  })
  await Promise.all(readers)
}

/** Longer than any answer may be. */
const tooLong: Attack['run'] = async (arms) => {
  while (!arms.isOver()) {
    const query = `{ big(size: ${40_000_000 + arms.random(100_000_000)}, mark: ${arms.marks.next()}) }`
    await Promise.all([0, 1, 2].map(() => arms.ask(asking(arms.anon, query))))
    await arms.rest(200)
  }
}

export const readers: readonly Attack[] = [
  {
    name: 'readers who do not read',
    does: '80 clients ask for 30 MB each and read nothing',
    relaxes: crowd,
    run: notReading,
  },
  { name: 'readers who read slowly', does: '40 clients read 30 MB at 10 KB a second', relaxes: crowd, run: slowly },
  {
    name: 'answers beyond the limit',
    does: 'clients ask for 40 to 140 MB',
    relaxes: { gone: 'Postgres makes a text of 140 MB in one call, within which it looks for no cancellation' },
    run: tooLong,
  },
]
