import { setTimeout as pause } from 'node:timers/promises'
import type { Question, World } from '../../interpreter/world.ts'
import { signToken } from '../../../../runtime/identity/jwt.ts'
import { createRandom, type Random } from '../../../support/random.ts'
import { until } from '../../../support/until.ts'
import { JWT_SECRET, keys } from '../../../support/while-served.ts'
import type { DrawChange } from './changes.ts'
import { connectWriter, createHistory, type History, type Verdicts } from './history.ts'
import { judgeWatcher, lackOf } from './judge.ts'
import type { Questions } from './questions.ts'
import { rage } from './storm.ts'
import { watch, type Address } from './streams.ts'
import { write, writePair } from './writers.ts'

/** One world with watchers, writers and owner's changes; and the faults of the streams. */

export interface Played {
  readonly problems: readonly string[]
  readonly answers: number
  readonly refusals: number
  readonly commits: number
  readonly changes: number
}

export interface Play {
  readonly world: World
  readonly questions: Questions
  readonly ownerUrl: string
  /** Services of the database. */
  readonly urls: readonly string[]
  /** The verdicts of reading documents now. */
  readonly read: (questions: readonly Question[]) => Promise<Verdicts>
  /** The possible changes of the owner. */
  readonly changes: readonly DrawChange[]
  readonly random: Random
  readonly ms: number
  /** The stream limit of the first service; null: none. */
  readonly most: number | null
  /** Ends connections until it is over; null: never. */
  readonly trouble: ((isOver: () => boolean) => Promise<void>) | null
}

const headersOf: Address['headersOf'] = ({ role, claims }, expires) => ({
  apikey: keys.anon,
  authorization: `Bearer ${signToken({ role, ...claims, ...(expires !== null && { exp: expires / 1_000 }) }, JWT_SECRET)}`,
})

/** The maximum wait for the last answer after all commits. */
const patienceMs = 15_000

export async function play({
  world,
  questions,
  ownerUrl,
  urls,
  read,
  changes,
  random,
  ms,
  most,
  trouble,
}: Play): Promise<Played> {
  const judge = (): Promise<Verdicts> => read(questions.watched)
  const history = createHistory({ world, verdicts: await judge(), by: 'the beginning' })
  const end = performance.now() + ms
  const seeded = (): Random => createRandom(random(2 ** 30))
  let isQuiet = false
  const addresses: readonly Address[] = urls.map((url) => ({ url, headersOf }))
  const watchers = questions.watched.map((question, place) =>
    watch(question, place, { history, addresses, random: seeded(), isQuiet: () => isQuiet }),
  )
  const burst = async (): Promise<void> => {
    const until = performance.now() + 50 + random(600)
    const isOver = (): boolean => performance.now() > until
    isQuiet = false
    await Promise.all([
      ...[0, 1, 2].map(() => write(ownerUrl, history, seeded(), isOver)),
      mutate({ url: ownerUrl, addresses, history, questions: questions.writing, random: seeded(), isOver }),
      rage({ url: ownerUrl, history, judge, changes, random: seeded(), isOver, pauseMs: 200 }),
      trouble?.(isOver),
    ])
    isQuiet = true
  }
  const lacking = (): readonly string[] =>
    watchers.flatMap((watcher) => {
      const lack = lackOf(history, watcher)
      return lack === null ? [] : [described(watcher.question, `an update was lost: ${lack}`, history)]
    })
  /** Services with too many streams, or with refusals below their limit. */
  const crowded = (): readonly string[] =>
    urls.flatMap((url, index) => {
      const limit = index === 0 && most !== null ? most : watchers.length
      const all = watchers.flatMap(({ connections }) => connections.filter((one) => one.url === url))
      const open = all.filter(({ end, heard }) => end === null && heard.length > 0).length
      const isRefused = limit >= watchers.length && all.some(({ end }) => end?.kind === 'full')
      return open > limit || isRefused ? [`${open} streams of ${limit}, refused: ${isRefused}`] : []
    })
  let lost: readonly string[] = []
  const settle = async (): Promise<void> => {
    await until(() => lacking().length === 0, patienceMs).catch(() => (lost = lacking()))
    lost = [...lost, ...crowded()]
  }
  while (performance.now() < end && lost.length === 0) {
    await burst()
    await settle()
    if (lost.length > 0) break
    // Without event triggers no other event reports a change.
    await writePair(ownerUrl, history, seeded())
    await settle()
  }
  await Promise.all(watchers.map(({ stop }) => stop()))
  const wrong = watchers.flatMap((watcher) => {
    const found = judgeWatcher(history, watcher, trouble !== null)
    return found === null ? [] : [described(watcher.question, found, history)]
  })
  const heard = watchers.flatMap(({ connections }) => connections.flatMap((one) => one.heard))
  return {
    problems: [...wrong, ...lost],
    answers: heard.length,
    refusals: heard.filter(({ answer }) => answer.errors !== undefined).length,
    commits: history.states.length,
    changes: history.states.filter(({ world: made }, index) => made !== history.states[index - 1]?.world).length - 1,
  }
}

interface Mutating {
  readonly url: string
  readonly addresses: readonly Address[]
  readonly history: History
  readonly questions: readonly Question[]
  readonly random: Random
  readonly isOver: () => boolean
}

/** Writes through the services, as the drawn role. */
async function mutate({ url, addresses, history, questions, random, isOver }: Mutating): Promise<void> {
  const client = await connectWriter(url)
  try {
    while (!isOver()) {
      await pause(random(150))
      const question = questions[random(questions.length)]
      const address = addresses[random(addresses.length)]
      if (question === undefined || address === undefined) continue
      const { document: query, variables, operationName } = question
      const request = {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...address.headersOf(question, null) },
        body: JSON.stringify({ query, variables, operationName }),
      }
      await history.commit(client, query, async () => {
        await fetch(`${address.url}/graphql/v1`, request)
          .then((response) => response.text())
          .catch(() => undefined)
        return {}
      })
    }
  } finally {
    await client.end()
  }
}

const described = ({ document, variables, role, claims }: Question, problem: string, { states }: History): string =>
  [
    problem,
    document,
    JSON.stringify({ variables, role, claims }),
    ...states.slice(-3).map(({ by }, index) => `state ${states.length - Math.min(3, states.length) + index}: ${by}`),
  ].join('\n')
