import { asking } from '../callers.ts'
import { aliasOf } from '../marks.ts'
import { sendAndLeave, type Arms, type Attack } from '../arms.ts'

/** Clients that ask for what takes long and leave: Postgres is to do no work for them. */

const spot = (levels: number, mark: number): string =>
  levels === 0
    ? `{ ${aliasOf(mark)}: id }`
    : `{ ${aliasOf(mark)}: id outs { edges { node { to ${spot(levels - 1, mark)} } } } }`

/** Two hundred bytes that ask for millions of rows. */
const tangled = (mark: number): string => `{ spotsCollection { edges { node ${spot(5, mark)} } } }`

const nap = (mark: number): string => `{ nap(seconds: 20, mark: ${mark}) }`
const spin = (mark: number): string => `{ spin(rounds: 1000000000, mark: ${mark}) }`

/** Between 0.1 and 0.5 seconds. */
const awhile = ({ random }: Arms): number => 100 + random(400)

/** Lets so many ask at once, again and again; all of a wave have left when their mark is said to have left. */
const waves =
  (count: number, documentOf: (mark: number) => string): Attack['run'] =>
  async (arms) => {
    while (!arms.isOver()) {
      const mark = arms.marks.next()
      const bytes = asking(arms.anon, documentOf(mark))
      await Promise.all(Array.from({ length: count }, () => sendAndLeave(arms, bytes, awhile(arms))))
      arms.marks.left(mark)
      await arms.rest(arms.random(400))
    }
  }

/** A mutation goes on, but not beyond its deadline. */
const mutations: Attack['run'] = async (arms) => {
  const { marks, limits } = arms
  while (!arms.isOver()) {
    const mark = marks.next(limits.requestMs + 1_000)
    const fields = Array.from({ length: 16 }, (_, index) => `a${index}: doze(seconds: 1.5, mark: ${mark})`)
    const bytes = asking(arms.stranger(), `mutation { ${fields.join(' ')} t: trace(mark: ${mark}) }`)
    await sendAndLeave(arms, bytes, awhile(arms))
    marks.left(mark)
    await arms.rest(500 + arms.random(1_000))
  }
}

/** Waits in the queue, and leaves it before its turn comes. */
const queuers: Attack['run'] = async (arms) => {
  const address = arms.address()
  while (!arms.isOver()) {
    const mark = arms.marks.next()
    const bytes = asking(arms.anon, nap(mark))
    await Promise.all(Array.from({ length: 40 }, (_, index) => sendAndLeave(arms, bytes, index * 5, address)))
    arms.marks.left(mark)
  }
}

const aliases = (count: number, mark: number): string =>
  `{ ${Array.from({ length: count }, (_, index) => `a${index}: nap(seconds: 0.05, mark: ${mark})`).join(' ')} }`

export const abandoned: readonly Attack[] = [
  {
    name: '8 abandoned relations',
    does: 'eight anonymous clients ask for five levels of relations and leave after 0.1 to 0.5 s',
    relaxes: {},
    run: waves(8, tangled),
  },
  {
    name: '64 abandoned relations',
    does: 'the same with 64 clients at once',
    relaxes: {},
    run: waves(64, tangled),
  },
  {
    name: '64 abandoned functions',
    does: '64 anonymous clients call a function that sleeps and leave',
    relaxes: {},
    run: waves(64, nap),
  },
  {
    name: '16 abandoned computations',
    does: '16 anonymous clients call a function that computes for minutes and leave',
    relaxes: {},
    run: waves(16, spin),
  },
  {
    name: 'abandoned aliases',
    does: 'documents of 3,000 aliases of a slow function, from clients that leave',
    relaxes: {},
    run: waves(12, (mark) => aliases(3_000, mark)),
  },
  {
    name: 'abandoned mutations',
    does: 'mutations of 16 functions of 1.5 s, from clients that leave',
    relaxes: {},
    run: mutations,
  },
  {
    name: 'queuers who leave',
    does: 'forty clients of one address fill the queue and leave it one after the other',
    relaxes: {},
    run: queuers,
  },
]
