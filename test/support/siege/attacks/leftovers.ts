import { asking } from '../callers.ts'
import { codeOf, type Arms, type Attack } from '../arms.ts'

/** Functions that leave something behind, for anyone who comes next. */

const together = (count: number, work: () => Promise<unknown>): Promise<unknown> =>
  Promise.all(Array.from({ length: count }, work))

/** The role of a field must not be the one that the field before has taken. */
const litter: Attack['run'] = async (arms) => {
  await together(3, async () => {
    while (!arms.isOver()) {
      const [caller, sent] = [arms.stranger(), performance.now()]
      const mark = arms.marks.next(arms.limits.requestMs + 1_000)
      const document = `mutation { litter(mark: ${mark}) second: litter(mark: ${mark})
        deleteFromBoardsCollection(filter: {id: {gt: 0}}, atMost: 1000) { affectedCount } }`
      const answer = await arms.ask(asking(caller, document))
      if (answer !== null && codeOf(answer) === 'ok')
        arms.verdicts.fail('rights', `the role of one field held for the next: ${answer.body.toString('utf8')}`, sent)
      await arms.rest(50)
    }
  })
}

const chatter: Attack['run'] = async (arms) => {
  await together(3, async () => {
    while (!arms.isOver()) await arms.ask(asking(arms.anon, `{ chatter(count: 20000, mark: ${arms.marks.next()}) }`))
  })
}

/** Rows that others wait for are locked for as long as their owner likes. */
const locks: Attack['run'] = async (arms: Arms) => {
  const { marks, limits } = arms
  await together(6, async () => {
    const caller = arms.stranger()
    while (!arms.isOver()) {
      const mark = marks.next(limits.requestMs + 1_000)
      const change = `updateChangingCollection(set: {name: "x"}, filter: {id: {eq: 1}}) { affectedCount }`
      await arms.ask(asking(caller, `mutation { ${change} doze(seconds: 0.5, mark: ${mark}) }`))
    }
  })
}

export const leftovers: readonly Attack[] = [
  {
    name: 'litter',
    does: 'functions that leave a role, settings, locks, temporary tables and channels behind',
    relaxes: {},
    run: litter,
  },
  { name: 'a flood of notices', does: 'functions that raise 20,000 warnings', relaxes: {}, run: chatter },
  { name: 'locked rows', does: 'mutations that lock one row and sleep', relaxes: {}, run: locks },
]
