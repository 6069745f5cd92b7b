import { asking, type Caller } from '../callers.ts'
import { codeOf, type Arms, type Attack } from '../arms.ts'

/** Clients that stay, and hold as many connections of the pool as they get. */

const together = (count: number, work: (index: number) => Promise<unknown>): Promise<unknown> =>
  Promise.all(Array.from({ length: count }, (_, index) => work(index)))

/** Asks for naps, one after the other, until the attack is over. */
const nap = async (arms: Arms, caller: Caller, address: string): Promise<void> => {
  while (!arms.isOver()) {
    const seconds = 1 + arms.random(15) / 10
    await arms.ask(asking(caller, `{ nap(seconds: ${seconds}, mark: ${arms.marks.next()}) }`), { address })
  }
}

const oneAddress: Attack['run'] = async (arms) => {
  const address = arms.address()
  await together(32, () => nap(arms, arms.anon, address))
}

const onePerson: Attack['run'] = async (arms) => {
  const caller = arms.stranger()
  await together(32, () => nap(arms, caller, arms.address()))
}

const manyAddresses: Attack['run'] = async (arms) => {
  await together(32, () => nap(arms, arms.anon, arms.address()))
}

/** The permitted delay of a deadline, on a machine whose processors are shared. */
const deadlineGraceMs = 500

/** Longer than a request may take: it ends at its deadline, and nothing of it is kept. */
const longMutations: Attack['run'] = async (arms) => {
  const { marks, limits, verdicts, stalls, town } = arms
  const caller = arms.stranger()
  await together(2, async () => {
    while (!arms.isOver()) {
      const [mark, sent] = [marks.next(limits.requestMs + 1_000), performance.now()]
      const fields = Array.from({ length: 16 }, (_, index) => `a${index}: doze(seconds: 1.5, mark: ${mark})`)
      const bytes = asking(caller, `mutation { t: trace(mark: ${mark}) ${fields.join(' ')} }`)
      const answer = await arms.ask(bytes)
      const [ms, code] = [performance.now() - sent - stalls.since(sent), answer === null ? null : codeOf(answer)]
      if (ms > limits.requestMs + deadlineGraceMs)
        verdicts.fail('deadline', `16 functions of 1.5 s took ${Math.round(ms)} ms: ${code ?? 'no answer'}`, sent)
      if (code === null) continue
      const kept = (await town.admin('select from traces where mark = $1', [mark])).length
      if (kept > 0) verdicts.fail('deadline', `${code}, and it was kept`, sent)
    }
  })
}

/** Postgres compares these one by one, and looks for no cancellation until it has done. */
const longOperands: Attack['run'] = async (arms) => {
  const caller = arms.stranger()
  const document = 'query ($f: BagsFilter) { bagsCollection(filter: $f) { edges { node { id } } } }'
  await together(16, async () => {
    while (!arms.isOver()) {
      const texts = Array.from({ length: [900, 6_000][arms.random(2)] ?? 0 }, (_, place) => `none ${place}`)
      const operands = [
        { tags: { overlaps: texts } },
        { tags: { contains: texts } },
        { body: { contains: JSON.stringify(texts) } },
        { body: { hasAnyKey: texts } },
      ]
      await arms.ask(asking(caller, document, { f: operands[arms.random(operands.length)] }))
    }
  })
}

export const holding: readonly Attack[] = [
  {
    name: 'one address holds',
    does: 'one address keeps 32 slow anonymous requests running',
    relaxes: {},
    run: oneAddress,
  },
  {
    name: 'one person holds',
    does: 'one signed-in person keeps 32 slow requests running, from many addresses',
    relaxes: {},
    run: onePerson,
  },
  {
    name: 'many addresses hold',
    does: '32 addresses keep slow anonymous requests running',
    relaxes: {},
    run: manyAddresses,
  },
  {
    name: 'long operands',
    does: 'filters by lists and JSON of thousands of elements, which Postgres compares without a pause',
    relaxes: {},
    run: longOperands,
  },
  {
    name: 'long mutations',
    does: 'mutations of 16 functions of 1.5 s, whose client waits',
    leastMs: 7_000,
    relaxes: {},
    run: longMutations,
  },
]
