import { setTimeout as pause } from 'node:timers/promises'
import { createRandom, type Random } from './random.ts'
import type { Served } from './served.ts'
import { postGraphql } from './post-graphql.ts'

/** Callers who write and read what they wrote again and again, and what they found. */

/** The table that they write to. */
export const notesSql = `
  create table note (body text primary key, author uuid);
  create function is_known() returns boolean language sql stable security definer
    as $$ select exists (select from auth.users where id = auth.uid()) $$;
  grant usage on schema public to anon, authenticated, service_role;
  grant select, insert on note to anon, authenticated, service_role;
`

/** How a caller says what it has written: the service remembers, it says so, or another caller says it for it. */
const manners = ['remembered', 'by header', 'by header of another'] as const
type Manner = (typeof manners)[number]

/** A write that was answered. */
interface Written {
  readonly body: string
  readonly position: string
  /** When it was sent, by performance.now. */
  readonly sent: number
  /** When it was answered. */
  readonly at: number
}

export interface Tally {
  reads: number
  readonly written: Written[]
  /** Writes that a later read missed, with their callers. */
  readonly missed: { readonly written: Written; readonly manner: Manner }[]
  /** Code of a failure -> how often. */
  readonly failures: Map<string, number>
}

interface Asked {
  /** Of its failure; null: there was none. */
  readonly code: string | null
  readonly data: any
  readonly position: string | null
}

/** @param position null: the service itself must know it */
export async function askAs(served: Served, key: string, query: string, position: string | null): Promise<Asked> {
  const response = await postGraphql(
    served,
    { query },
    { authorization: `Bearer ${key}`, ...(position !== null && { 'catalograph-position': position }) },
  )
  const { data, errors } = (await response.json()) as { data: unknown; errors?: readonly any[] }
  const code = (errors?.[0]?.extensions.code as string | undefined) ?? null
  return { code, data: code === null ? data : null, position: response.headers.get('catalograph-position') }
}

/** Signs up; resolves with the token, which anyone who signed up may use at once. */
export async function signUp(served: Served, name: string): Promise<string> {
  const response = await fetch(`${served.url}/auth/v1/signup`, {
    method: 'POST',
    headers: { apikey: served.anon, 'content-type': 'application/json' },
    body: JSON.stringify({ email: `${name}@example.com`, password: 'correct horse' }),
  })
  const { access_token: token } = (await response.json()) as { access_token?: string }
  if (token === undefined) throw new Error(`no sign-up: ${response.status}`)
  return token
}

export interface CallersOptions {
  readonly isOver: (tally: Tally) => boolean
  readonly callers: number
  /** How many reads follow a write at most, so that the last ones lie behind the lag. */
  readonly burst: number
  readonly seed: number
}

/** The last writes of a caller, which it still looks for. */
const lookedFor = 3
const pauseAfterFailureMs = 20

async function call(
  served: Served,
  token: string,
  number: number,
  random: Random,
  tally: Tally,
  options: CallersOptions,
) {
  const ask = async (key: string, query: string, position: string | null): Promise<Asked> => {
    const asked = await askAs(served, key, query, position)
    if (asked.code === null) return asked
    tally.failures.set(asked.code, (tally.failures.get(asked.code) ?? 0) + 1)
    await pause(pauseAfterFailureMs)
    return asked
  }
  const manner = manners[number % manners.length] ?? 'remembered'
  const reader = manner === 'by header of another' ? served.anon : token
  let own: readonly Written[] = []
  for (let turn = 0; !options.isOver(tally); turn += 1) {
    const body = `${number}.${turn}`
    const sent = performance.now()
    const wrote = await ask(
      token,
      `mutation { insertIntonoteCollection(objects: [{ body: "${body}" }]) { affectedCount } }`,
      null,
    )
    if (wrote.data === null || wrote.position === null) continue
    const last = { body, position: wrote.position, sent, at: performance.now() }
    tally.written.push(last)
    own = [...own, last].slice(-lookedFor)
    const list = own.map((one) => `"${one.body}"`).join()
    const query = `{ noteCollection(filter: { body: { in: [${list}] } }) { edges { node { body } } } }`
    for (let left = 1 + random(options.burst); left > 0 && !options.isOver(tally); left -= 1) {
      const { data } = await ask(reader, query, manner === 'remembered' ? null : last.position)
      if (data === null) continue
      tally.reads += 1
      const found = new Set(data.noteCollection.edges.map(({ node }: { node: { body: string } }) => node.body))
      for (const written of own) if (!found.has(written.body)) tally.missed.push({ written, manner })
    }
  }
}

export interface Callers {
  readonly tally: Tally
  /** Resolves when it is over. */
  readonly done: Promise<void>
}

/** Signs them up, one after the other since hashes take their time, and lets them begin. */
export async function startCallers(served: Served, options: CallersOptions): Promise<Callers> {
  const tally: Tally = { reads: 0, written: [], missed: [], failures: new Map() }
  const tokens: string[] = []
  while (tokens.length < options.callers) tokens.push(await signUp(served, `caller${options.seed}.${tokens.length}`))
  const all = tokens.map((token, number) =>
    call(served, token, number, createRandom(options.seed + number), tally, options),
  )
  return { tally, done: Promise.all(all).then(() => undefined) }
}
