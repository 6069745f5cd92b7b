import fc from 'fast-check'
import { expect } from 'vitest'
import { claimsOf, type Answer } from '../auth.ts'
import { until } from '../until.ts'
import { command, restart, type Step } from './commands.ts'
import { atOnce, type Project } from './project.ts'

/** A session by spec/auth.md 7: the chain of its refresh tokens, of which the last is live. */
export interface Chain {
  tokens: string[]
  /** So many of them, from the first, were spent longer ago than the reuse interval. */
  old: number
  /** The one whose access token was seen in use last, and the one that was last handed out after its answer was lost. */
  used: number
  handedAgain: number
  /** The session's own limit has passed. */
  expired: boolean
  ended: boolean
}

export interface Holder {
  readonly project: Project
  session: string
  access: string
}

type ChainStep = Step<Chain, Holder>

const refresh =
  ({ project }: Holder, token: string) =>
  (): Promise<Answer> =>
    project.call('POST', '/token?grant_type=refresh_token', { body: { refresh_token: token } })

const signIn = async (project: Project): Promise<{ readonly tokens: string[]; readonly access: string }> => {
  const { status, body } = await project.call('POST', '/signup', { body: {} })
  expect(status).toBe(200)
  return { tokens: [body.refresh_token], access: body.access_token }
}

const fresh = { old: 0, used: -1, handedAgain: -1, expired: false, ended: false } as const

const sessionOf = (access: string): string => String(claimsOf(access)['session_id'])

/** A guest signs in: nothing is hashed. */
export async function beginChain(project: Project): Promise<{ readonly model: Chain; readonly real: Holder }> {
  const { tokens, access } = await signIn(project)
  return {
    model: { tokens, ...fresh },
    real: { project, access, session: sessionOf(access) },
  }
}

const issue: ChainStep = {
  name: 'sign in anew',
  possible: ({ ended, expired }) => ended || expired,
  take: async (model, real) => {
    const { tokens, access } = await signIn(real.project)
    Object.assign(model, { tokens, ...fresh })
    Object.assign(real, { access, session: sessionOf(access) })
  },
}

/** The tokens in the database after each step. */
async function checkLive({ tokens, ended }: Chain, { project, session }: Holder): Promise<void> {
  const { rows } = await project.db.query(
    'select token from auth.refresh_tokens where session_id = $1 and not revoked',
    [session],
  )
  expect(rows.map(({ token }) => token)).toEqual(ended ? [] : tokens.slice(-1))
}

/** The token so many generations before the live one, from several tabs at once. */
const use = (back: number, times: number): ChainStep => ({
  name: `refresh ${back} back, ${times} at once`,
  possible: ({ tokens }) => tokens.length > back,
  take: async (model, real) => {
    const index = model.tokens.length - 1 - back
    const answers = await atOnce(times, refresh(real, model.tokens[index] as string))
    if (model.ended) expectAll(answers, ['refresh_token_not_found'])
    else if (model.expired) expectAll(answers, ['session_expired'])
    else if (index < model.old && back > 0 && !mayBeLost(model, index)) {
      model.ended = true
      expectAll(answers, ['refresh_token_already_used', 'refresh_token_not_found', 'session_not_found'])
      expect(answers.filter(({ body }) => body.error_code === 'refresh_token_already_used')).not.toEqual([])
    } else {
      if (index < model.old && back > 0) model.handedAgain = model.tokens.length - 1
      keep(model, real, answers, back)
    }
    await checkLive(model, real)
  },
})

/** Only the parent of the live token, while that was not used, and not where its own answer was lost unseen before. */
const mayBeLost = ({ tokens, used, handedAgain }: Chain, index: number): boolean =>
  index === tokens.length - 2 && used !== tokens.length - 1 && (handedAgain !== index || used === index)

/** The access token was seen: it came with the live token. */
async function seen(model: Chain, { project, session }: Holder): Promise<void> {
  const current = `select from catalograph_auth.refresh_marks m join auth.refresh_tokens t using (session_id)
    where session_id = $1 and not t.revoked and m.used = left(encode(sha256(convert_to(t.token, 'UTF8')), 'hex'), 8)`
  await until(async () => (await project.db.query(current, [session])).rowCount === 1)
  model.used = model.tokens.length - 1
}

/** All tabs get the same live token: a new one by the live one, else the one that is live. */
function keep(model: Chain, real: Holder, answers: readonly Answer[], back: number): void {
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
  const [given, ...others] = new Set(answers.map(({ body }) => body.refresh_token as string))
  expect(others).toEqual([])
  if (back === 0) {
    expect(model.tokens).not.toContain(given)
    model.tokens.push(given as string)
  } else expect(given).toBe(model.tokens.at(-1))
  real.access = answers.at(-1)?.body.access_token
}

function expectAll(answers: readonly Answer[], codes: readonly string[]): void {
  for (const { status, body } of answers) {
    expect(status).toBe(400)
    expect(codes).toContain(body.error_code)
  }
}

/** The reuse interval is over for what is spent. */
const age: ChainStep = {
  name: 'the reuse interval passes',
  take: async (model, { project, session }) => {
    await project.db.query(
      `update auth.refresh_tokens set updated_at = now() - interval '1 minute' where session_id = $1 and revoked`,
      [session],
    )
    model.old = model.tokens.length - 1
  },
}

const expire: ChainStep = {
  name: 'the session reaches its limit',
  take: async (model, { project, session }) => {
    await project.db.query('update auth.sessions set not_after = now() where id = $1', [session])
    model.expired = true
  },
}

const look: ChainStep = {
  name: 'look',
  take: async (model, real) => {
    const { status, body } = await real.project.call('GET', '/user', { token: real.access })
    expect([status, body.error_code]).toEqual(model.ended ? [403, 'session_not_found'] : [200, undefined])
    if (!model.ended) await seen(model, real)
  },
}

const signOut = (scope: 'global' | 'local' | 'others'): ChainStep => ({
  name: `sign out, ${scope}`,
  take: async (model, real) => {
    const { status } = await real.project.call('POST', `/logout?scope=${scope}`, { token: real.access })
    expect(status).toBe(model.ended ? 403 : 204)
    if (!model.ended && scope === 'others') await seen(model, real)
    model.ended ||= scope !== 'others'
    await checkLive(model, real)
  },
})

/** No matter who comes first, the session is over afterwards. */
const race: ChainStep = {
  name: 'refresh while somebody signs out',
  possible: ({ ended }) => !ended,
  take: async (model, real) => {
    const [signedOut, refreshed] = await Promise.all([
      real.project.call('POST', '/logout?scope=local', { token: real.access }),
      refresh(real, model.tokens.at(-1) as string)(),
    ])
    expect(signedOut.status).toBe(204)
    expect(model.expired ? [400] : [200, 400]).toContain(refreshed.status)
    model.ended = true
    await checkLive(model, real)
    if (refreshed.status === 200)
      expectAll([await refresh(real, refreshed.body.refresh_token)()], ['refresh_token_not_found'])
  },
}

const refreshing = fc
  .tuple(fc.constantFrom(0, 0, 0, 1, 1, 2, 3), fc.constantFrom(1, 1, 4))
  .map(([back, times]) => command(use(back, times)))

/** The commands that end a session are rare, or there would be no chains. */
export const chainCommands: readonly fc.Arbitrary<fc.AsyncCommand<Chain, Holder>>[] = [
  refreshing,
  refreshing,
  refreshing,
  fc.constant(age).map(command),
  fc.constantFrom(issue, look, signOut('others'), restart<Chain, Holder>()).map(command),
  fc.constantFrom(issue, expire, race, signOut('local'), signOut('global')).map(command),
]
