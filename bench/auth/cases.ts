import { httpRequest, type HttpAnswer, type RequestParts } from '../support/http-client.ts'
import type { Server } from '../support/servers.ts'
import { addMembers, addNewcomers, type Member, type Newcomer } from './people.ts'
import { addressHeader, type Place } from './place.ts'

/** One of the servers of a case. */
export interface Side {
  /** `ours`, or a part of the limit's work. */
  readonly name: 'ours' | 'limit' | 'hash' | 'statements'
  readonly server: Server
  readonly next: () => Buffer
  /** Called with every answer, which may decide the next request. */
  readonly good?: (answer: HttpAnswer) => boolean
}

/** An endpoint, as we serve it and as the limit does. */
export interface Case {
  readonly name: string
  /** Simultaneous requests. */
  readonly connections: number
  /** Requests to each side before the first measured one: code gets compiled, tokens of all members get cached. */
  readonly warmUp: number
  readonly sides: readonly Side[]
}

/** Sends requests like a client library. */
type Ask = (parts: RequestParts) => Buffer

/** Signed-in users, who return repeatedly. */
const members = 2_000
const addresses = 20_000

/** Requests from changing source addresses. */
function fromEverywhere(anon: string): Ask {
  let turn = 0
  return ({ headers, ...parts }) => {
    turn = (turn + 1) % addresses
    const address = `10.0.${turn >> 8}.${turn & 255}`
    const usual = { apikey: anon, [addressHeader]: address, 'user-agent': 'bench' }
    return httpRequest({ ...parts, headers: { ...usual, ...headers } })
  }
}

const oneOf = <T>(list: readonly T[]): T => list[Math.floor(Math.random() * list.length)] as T

function readUser(ask: Ask, path: string, all: readonly Member[]): () => Buffer {
  let turn = 0
  return () => {
    turn = (turn + 1) % all.length
    return ask({ method: 'GET', path, headers: { authorization: `Bearer ${all[turn]?.accessToken ?? ''}` } })
  }
}

/** Every answer contains the token for the session's next request. */
function refresh(ask: Ask, path: string, all: readonly Member[]): Pick<Side, 'next' | 'good'> {
  const tokens = all.map(({ refreshToken }) => refreshToken)
  return {
    next: () => ask({ path, body: { refresh_token: tokens.shift() } }),
    good: ({ status, body }) => {
      const token = /"refresh_token":"([^"]+)"/.exec(body.toString('latin1'))?.[1]
      if (token !== undefined) tokens.push(token)
      return status === 200 && token !== undefined
    },
  }
}

/** Each of them can do it once; there must be enough. */
function verify(ask: Ask, path: string, all: readonly Newcomer[]): () => Buffer {
  const left = [...all]
  return () => {
    const newcomer = left.pop()
    if (newcomer === undefined) throw new Error('All codes are spent: add more newcomers for so many seconds.')
    return ask({ path, body: { type: 'signup', email: newcomer.email, token: newcomer.code } })
  }
}

function signIn(ask: Ask, path: string, all: readonly Member[], password: string): () => Buffer {
  return () => ask({ path, body: { email: oneOf(all).email, password } })
}

function signUp(ask: Ask, path: string, group: string, password: string): () => Buffer {
  let count = 0
  return () => ask({ path, body: { email: `${group}-${(count += 1)}@example.com`, password } })
}

export interface Amounts {
  /** Newcomers on each side. */
  readonly newcomers: number
}

/** Every case, with its rows. */
export async function makeCases(place: Place, { newcomers }: Amounts): Promise<readonly Case[]> {
  const { ours, limit, password, secret, storedHash: hash } = place
  const { query } = place.db
  const ask = fromEverywhere(place.anon)
  const membersOf = (group: string) => addMembers(query, { group, count: members, hash, secret })
  const newcomersOf = (group: string) => addNewcomers(query, { group, count: newcomers, hash, secret })
  const [mine, theirs] = [await membersOf('ours'), await membersOf('limit')]
  const [myCodes, theirCodes] = [await newcomersOf('new-ours'), await newcomersOf('new-limit')]
  await query('analyze')
  const at = (path: string): string => `/auth/v1${path}`
  const token = (grant: string): string => at(`/token?grant_type=${grant}`)
  return [
    {
      name: 'GET /user',
      connections: 16,
      warmUp: 10 * members,
      sides: [
        { name: 'ours', server: ours, next: readUser(ask, at('/user'), mine) },
        { name: 'limit', server: limit, next: readUser(ask, '/user', theirs) },
      ],
    },
    {
      name: 'refresh',
      connections: 16,
      warmUp: 5 * members,
      sides: [
        { name: 'ours', server: ours, ...refresh(ask, token('refresh_token'), mine) },
        { name: 'limit', server: limit, ...refresh(ask, '/refresh', theirs) },
      ],
    },
    {
      name: 'POST /verify',
      connections: 16,
      warmUp: 500,
      sides: [
        { name: 'ours', server: ours, next: verify(ask, at('/verify'), myCodes) },
        { name: 'limit', server: limit, next: verify(ask, '/verify', theirCodes) },
      ],
    },
    {
      name: 'password sign-in',
      connections: 16,
      warmUp: 16,
      sides: [
        { name: 'ours', server: ours, next: signIn(ask, token('password'), mine, password) },
        { name: 'hash', server: limit, next: signIn(ask, '/hash', theirs, password) },
        { name: 'statements', server: limit, next: signIn(ask, '/sign-in', theirs, password) },
      ],
    },
    {
      name: 'sign-up',
      connections: 16,
      warmUp: 16,
      sides: [
        { name: 'ours', server: ours, next: signUp(ask, at('/signup'), 'up-ours', password) },
        { name: 'hash', server: limit, next: signUp(ask, '/new-hash', 'up-hash', password) },
        { name: 'statements', server: limit, next: signUp(ask, '/sign-up', 'up-limit', password) },
      ],
    },
  ]
}
