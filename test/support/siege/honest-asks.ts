import type { HttpAnswer } from '../../../bench/support/http-client.ts'
import { httpRequest } from '../../../bench/support/http-client.ts'
import type { Random } from '../random.ts'
import { anonOf, asking, people, serviceOf, type Caller } from './callers.ts'
import type { Check } from './checks.ts'
import { articleCount, boardsEach, cardsEach, personCount, personId, remarksEach } from './schema.ts'
import type { Town } from './town.ts'

/** An honest request, and the check of its answer. */
export interface Ask {
  readonly name: string
  readonly bytes: Buffer
  /** The fault of an answer with status 200. */
  readonly judge: (answer: HttpAnswer) => Fault | null
  /** Its write; null: none. */
  readonly token: string | null
  /** The promise that its refusal breaks. */
  readonly promise: 'answered' | 'accepted' | 'strangers'
}

export interface Fault {
  readonly check: Check
  readonly detail: string
}

/** Makes the next request; the number is its own in the run. */
export type MakeAsk = (random: Random, number: number) => Ask

const dataOf = ({ body }: HttpAnswer): string => {
  const text = body.toString('utf8')
  return text.startsWith('{"data":') && text.endsWith('}') ? text.slice(8, -1) : text
}

/** Answers are made in the order of the selection, so texts can be compared as they are. */
const mustBe =
  (expected: unknown, check: Check = 'exact'): Ask['judge'] =>
  (answer) => {
    const [got, wanted] = [dataOf(answer), JSON.stringify(expected)]
    if (got === wanted) return null
    // Postgres puts blanks where JSON.stringify puts none.
    if (JSON.stringify(parsed(got)) === wanted) return null
    return { check, detail: `${got.slice(0, 300)} instead of ${wanted.slice(0, 300)}` }
  }

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

const numbers = (first: number, count: number): readonly number[] =>
  Array.from({ length: count }, (_, index) => first + index)

const asked = (name: string, caller: Caller, query: string, variables: object, judge: Ask['judge']): Ask => ({
  name,
  bytes: asking(caller, query, { ...variables }),
  judge,
  token: null,
  promise: caller.role === 'anon' ? 'strangers' : 'answered',
})

const article = (id: number): object => ({ id, title: `Article ${id}` })

const keyDocument = 'query Key($id: Int!) { articlesByPk(id: $id) { id title } }'
const pageDocument = `query Page($after: Int!) {
  articlesCollection(first: 30, filter: {id: {gt: $after}}, orderBy: [{id: AscNullsLast}]) { edges { node { id title } } pageInfo { hasNextPage } } }`
const nestedDocument = `{ boardsCollection(first: 3, orderBy: [{id: AscNullsLast}]) { edges { node { id owner name
  cardsCollection(orderBy: [{id: AscNullsLast}]) { edges { node { id owner
    remarksCollection(orderBy: [{id: AscNullsLast}]) { edges { node { id owner body } } } } } } } } } }`
const insertDocument = `mutation Add($token: String!, $owner: UUID!, $amount: Int!) {
  insertIntoLedgerCollection(objects: [{token: $token, owner: $owner, amount: $amount}]) {
    affectedCount records { token owner amount } } }`
const cardDocument = 'query Card($id: Int!) { cardsByPk(id: $id) { id owner name board { id } } }'
const whoDocument = '{ whoami }'

const edges = (nodes: readonly object[]): object => ({ edges: nodes.map((node) => ({ node })) })

/** A query of three levels, which shows a user's own rows only. */
const boardsOf = (index: number): object => {
  const owner = personId(index)
  const remarks = (card: number): object =>
    edges(numbers((card - 1) * remarksEach + 1, remarksEach).map((id) => ({ id, owner, body: `Remark ${id}` })))
  const cards = (board: number): object =>
    edges(numbers((board - 1) * cardsEach + 1, cardsEach).map((id) => ({ id, owner, remarksCollection: remarks(id) })))
  const boards = numbers(index * boardsEach + 1, 3)
  const board = (id: number): object => ({ id, owner, name: `Board ${id}`, cardsCollection: cards(id) })
  return { boardsCollection: edges(boards.map(board)) }
}

/** The answer of `whoami` in an unused session; the first two settings are the caller's own. */
export type Session = readonly unknown[]

export const readSession = ({ body }: HttpAnswer): Session => {
  const { data } = parsed(body.toString('utf8')) as { data: { whoami: string } | null }
  if (data === null) throw new Error(`The town does not answer: ${body.toString('utf8')}`)
  return (JSON.parse(data.whoami) as Session).slice(2)
}

export const askWho = (town: Town): Buffer => asking(anonOf(town), whoDocument)

export interface AskParts {
  readonly town: Town
  /** In front of what this run writes. */
  readonly prefix: string
  readonly session: Session
  /** An access token that auth has issued. */
  readonly account: Caller
  /** One more person, whose token is signed by a key that stays while others come and go; null: there is none. */
  readonly keyHolder: Caller | null
}

/** The mix: out of a hundred requests, so many of each kind. */
export function createAsks({ town, prefix, session, account, keyHolder }: AskParts): MakeAsk {
  const [anon, service, persons] = [anonOf(town), serviceOf(town), people(town)]
  const nested = persons.map((_, index) => boardsOf(index))
  const person = (random: Random): readonly [Caller, number] => {
    const index = random(personCount)
    return [persons[index] as Caller, index]
  }
  const user = httpRequest({ method: 'GET', path: '/auth/v1/user', headers: account.headers })
  const who = (random: Random): Caller => {
    const callers = [anon, service, ...(keyHolder === null ? [] : [keyHolder]), ...persons]
    return callers[random(callers.length)] as Caller
  }
  const rows: readonly (readonly [share: number, make: MakeAsk])[] = [
    [
      25,
      (random) => {
        const id = 1 + random(articleCount)
        return asked('key', anon, keyDocument, { id }, mustBe({ articlesByPk: article(id) }))
      },
    ],
    [
      20,
      (random) => {
        const after = random(articleCount - 40)
        const expected = { ...edges(numbers(after + 1, 30).map(article)), pageInfo: { hasNextPage: true } }
        return asked('page', anon, pageDocument, { after }, mustBe({ articlesCollection: expected }))
      },
    ],
    [
      18,
      (random) => {
        const [caller, index] = person(random)
        return asked('nested', caller, nestedDocument, {}, mustBe(nested[index], 'rights'))
      },
    ],
    [
      15,
      (random, number) => {
        const [caller] = person(random)
        const record = { token: `${prefix}-${number}`, owner: caller.sub, amount: number }
        const expected = { insertIntoLedgerCollection: { affectedCount: 1, records: [record] } }
        const ask = asked('insert', caller, insertDocument, record, mustBe(expected))
        return { ...ask, token: record.token, promise: 'accepted' }
      },
    ],
    [
      10,
      (random) => {
        const id = 1 + random(personCount * boardsEach * cardsEach)
        const board = Math.ceil(id / cardsEach)
        const owner = personId(Math.floor((board - 1) / boardsEach))
        const card = { id, owner, name: `Card ${id}`, board: { id: board } }
        return asked('service', service, cardDocument, { id }, mustBe({ cardsByPk: card }))
      },
    ],
    [
      9,
      (random) => {
        const caller = who(random)
        return asked('whoami', caller, whoDocument, {}, (answer) => {
          const { data } = parsed(answer.body.toString('utf8')) as { data: { whoami: string } | null }
          const expected = JSON.stringify([caller.role, caller.sub, ...session])
          const got = JSON.stringify(parsed(data?.whoami ?? 'null'))
          return got === expected ? null : { check: 'rights', detail: `${got} instead of ${expected}` }
        })
      },
    ],
    [
      3,
      () => ({
        name: 'account',
        bytes: user,
        token: null,
        promise: 'answered',
        judge: ({ body }) =>
          body.includes(`"id":"${account.sub}"`) ? null : { check: 'rights', detail: body.toString('utf8', 0, 300) },
      }),
    ],
  ]
  const table = rows.flatMap(([share, make]) => Array.from({ length: share }, () => make))
  return (random, number) => (table[random(table.length)] as MakeAsk)(random, number)
}
