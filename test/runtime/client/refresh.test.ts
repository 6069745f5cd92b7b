import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { AuthStorage, Result, Session } from '../../../runtime/client/client.ts'
import { AuthError } from '../../../runtime/client/client.ts'
import { startAuthServer } from '../../support/auth.ts'
import { createStorage } from '../../support/browser.ts'
import { startFlakyService, type Fault } from '../../support/flaky-service.ts'
import { forSuite } from '../../support/for-suite.ts'
import { closeTabs, createLocks, eventNames, openTab, type Tab, type TabOptions } from '../../support/tab.ts'

const key = 'session'
const server = forSuite(startAuthServer, { settings: { autoconfirm: 'on' } })
const service = forSuite(() => startFlakyService(server.url))
afterEach(closeTabs)

/** Hours pass as fast as they are waited for. */
let clock = 0
const now = (): number => Date.now() + clock
const sleep = async (milliseconds: number): Promise<void> => {
  clock += milliseconds
}
beforeEach(() => {
  clock = 0
  service.plan([])
})

const open = (storage: AuthStorage, options: TabOptions = {}): Tab =>
  openTab(
    { url: service.url, anon: server.anon },
    {
      hidden: true,
      ...options,
      auth: { storage, storageKey: key, ...options.auth },
      environment: { now, sleep, ...options.environment },
    },
  )

async function done<Data extends object>(operation: Promise<Result<Data>>): Promise<Data> {
  const { data, error } = await operation
  if (error !== null) throw error
  return data
}

const someone = () => ({ email: `${randomUUID()}@example.com`, password: 'correct horse' })
const stored = async (storage: AuthStorage): Promise<Session> => JSON.parse((await storage.getItem(key)) ?? 'null')

/** Lets so many seconds of the access token's life be left. */
async function age(storage: AuthStorage, seconds: number): Promise<void> {
  const session = await stored(storage)
  if (session === null) return
  await storage.setItem(key, JSON.stringify({ ...session, expires_at: Math.floor(now() / 1000) + seconds }))
}

async function signedUp(options: TabOptions = {}) {
  const storage = createStorage()
  const tab = open(storage, options)
  const { session } = await done(tab.client.auth.signUp(someone()))
  if (session === null) throw new Error('Nobody was signed in.')
  return { storage, tab, session }
}

describe('refreshing', () => {
  it('is not done while the token is good for 90 s, and done for all callers at once after that', async () => {
    const { storage, tab, session } = await signedUp()
    await age(storage, 95)
    expect((await done(tab.client.auth.getSession())).session?.access_token).toBe(session.access_token)
    expect(service.refreshes()).toBe(0)
    await age(storage, 85)
    const other = open(storage)
    const asked = await Promise.all([tab, other, tab, other].map(({ client }) => done(client.auth.getSession())))
    expect(new Set(asked.map((answer) => answer.session?.refresh_token)).size).toBe(1)
    expect(asked[0]?.session?.refresh_token).not.toBe(session.refresh_token)
    expect(service.refreshes()).toBe(1)
    expect(
      eventNames(tab)
        .concat(eventNames(other))
        .filter((name) => name === 'TOKEN_REFRESHED').length,
    ).toBeGreaterThan(0)
  })

  it('is tried again at doubling distances while the tick lasts', async () => {
    const { storage, tab } = await signedUp()
    await age(storage, -1)
    service.plan(['unreachable', 'gateway', 'answer-lost', 'cut', 'rubbish'])
    expect((await done(tab.client.auth.getSession())).session).not.toBeNull()
    expect([service.refreshes(), clock]).toEqual([6, 200 + 400 + 800 + 1600 + 3200])
  })

  it('gives up after the tick, says so, and is quiet for a moment', async () => {
    const { storage, tab } = await signedUp()
    await age(storage, -1)
    service.plan(Array.from({ length: 30 }, () => 'unreachable'))
    expect(await tab.client.auth.getSession()).toMatchObject({
      data: { session: null },
      error: { code: 'network_failure', status: 0 },
    })
    const sent = service.refreshes()
    expect(clock).toBeLessThan(30_000)
    expect((await tab.client.auth.getSession()).error?.code).toBe('network_failure')
    expect(service.refreshes()).toBe(sent)
    service.plan([])
    clock += 5_000
    expect((await done(tab.client.auth.getSession())).session).not.toBeNull()
  })

  it('leaves a session whose token is still good when the service refuses, and is quiet for 60 s', async () => {
    const { storage, tab, session } = await signedUp()
    await server.db.query('delete from auth.sessions where user_id = $1', [session.user.id])
    await age(storage, 80)
    for (let times = 0; times < 3; times += 1)
      expect((await done(tab.client.auth.getSession())).session?.access_token).toBe(session.access_token)
    expect((await tab.client.auth.refreshSession()).error?.code).toBe('refresh_token_not_found')
    expect(service.refreshes()).toBe(1)
    clock += 61_000
    await done(tab.client.auth.getSession())
    expect(service.refreshes()).toBe(2)
    clock += 61_000
    expect(await tab.client.auth.getSession()).toMatchObject({
      data: { session: null },
      error: { code: 'refresh_token_not_found' },
    })
    expect(await done(tab.client.auth.getSession())).toEqual({ session: null })
    expect(eventNames(tab).filter((name) => name === 'SIGNED_OUT')).toHaveLength(1)
  })

  it.each(['limited', 'wrong-key', 'portal', 'gateway'] as const)(
    'takes no "%s" for the end of a session',
    async (fault) => {
      const { storage, tab } = await signedUp()
      await age(storage, -1)
      service.plan(Array.from({ length: 20 }, () => fault))
      expect((await tab.client.auth.getSession()).error).toBeInstanceOf(AuthError)
      service.plan([])
      clock += 60_000
      expect((await done(tab.client.auth.getSession())).session).not.toBeNull()
    },
  )

  it('does not restore a session after a sign-out or sign-in in the meantime', async () => {
    const { storage, tab } = await signedUp()
    const impatient = { every: (_milliseconds: number, work: () => void) => (queueMicrotask(work), () => undefined) }
    const other = open(storage, { environment: impatient })
    let answer: () => void = () => undefined
    const asked = new Promise<void>((resolve) => {
      answer = resolve
    })
    const slow = open(storage, {
      fetch: async (input, init) => {
        const response = await fetch(input, init)
        await asked
        return response
      },
    })
    for (const { client } of [other, slow]) await done(client.auth.getSession())
    await age(storage, 80)
    const refreshed = slow.client.auth.refreshSession()
    await vi.waitFor(() => expect(service.refreshes()).toBe(1))
    await done(other.client.auth.signOut({ scope: 'local' }))
    answer()
    expect(await refreshed).toMatchObject({ error: { code: 'session_missing' } })
    expect(await done(tab.client.auth.getSession())).toEqual({ session: null })
    const { user } = await done(other.client.auth.signUp(someone()))
    expect((await done(slow.client.auth.getSession())).session?.user.id).toBe(user?.id)
  })

  it('lets no caller wait whose token is still good', async () => {
    const { storage, session } = await signedUp()
    await age(storage, 80)
    const never = open(storage, {
      fetch: () => new Promise(() => undefined),
      environment: { every: (_milliseconds, work) => (queueMicrotask(work), () => undefined) },
    })
    expect((await done(never.client.auth.getSession())).session?.access_token).toBe(session.access_token)
  })

  it('refreshes first what another client has stored without a user or an end', async () => {
    const { storage, tab, session } = await signedUp()
    const { user: _user, expires_at: _end, ...tokens } = session
    await storage.setItem(key, JSON.stringify(tokens))
    expect((await done(tab.client.auth.getSession())).session?.user.id).toBe(session.user.id)
    await storage.setItem(key, '["access","refresh",null,null,null]')
    expect(await done(tab.client.auth.getSession())).toEqual({ session: null })
  })

  it('goes on in memory where the storage takes nothing', async () => {
    vi.spyOn(console, 'warn').mockImplementation(() => undefined)
    const full = (): never => {
      throw new DOMException('full', 'QuotaExceededError')
    }
    for (const storage of [
      { getItem: () => null, setItem: full, removeItem: full },
      { getItem: full, setItem: full, removeItem: full },
    ]) {
      const tab = open(storage)
      await done(tab.client.auth.signUp(someone()))
      await done(tab.client.auth.refreshSession())
      expect((await done(tab.client.auth.getSession())).session).not.toBeNull()
      await done(tab.client.auth.signOut())
      expect(await done(tab.client.auth.getSession())).toEqual({ session: null })
    }
    vi.restoreAllMocks()
  })
})

describe('the client without calls', () => {
  it('refreshes while the page is seen, at once when it is seen again', async () => {
    const ticks: (() => void)[] = []
    const every = (milliseconds: number, work: () => void) => {
      if (milliseconds === 30_000) ticks.push(work)
      return () => void ticks.splice(ticks.indexOf(work), 1)
    }
    const { storage, tab } = await signedUp({ hidden: false, environment: { every } })
    await age(storage, 60)
    ticks[0]?.()
    await vi.waitFor(() => expect(eventNames(tab)).toContain('TOKEN_REFRESHED'))
    tab.show(false)
    expect(ticks).toEqual([])
    await age(storage, 60)
    service.plan([])
    tab.show(true)
    await vi.waitFor(() => expect(service.refreshes()).toBe(1))
    tab.client.close()
    expect(ticks).toEqual([])
  })
})

describe('two tabs', () => {
  it('send one refresh between them, and inform each other', async () => {
    const locks = createLocks()
    const { storage, tab } = await signedUp({ environment: { locks } })
    const other = open({ ...storage }, { environment: { locks } })
    await done(other.client.auth.getSession())
    await age(storage, 10)
    const sessions = await Promise.all([tab, other].map(({ client }) => done(client.auth.getSession())))
    expect(sessions[0]).toEqual(sessions[1])
    expect(service.refreshes()).toBe(1)
    await done(tab.client.auth.signOut())
    await vi.waitFor(() => expect(eventNames(other)).toEqual(['INITIAL_SESSION', 'TOKEN_REFRESHED', 'SIGNED_OUT']))
  })

  it('agree without locks, too', async () => {
    const { storage, tab } = await signedUp()
    const other = open({ ...storage })
    await age(storage, -1)
    const sessions = await Promise.all([tab, other, tab, other].map(({ client }) => done(client.auth.getSession())))
    expect(new Set(sessions.map(({ session }) => session?.refresh_token)).size).toBe(1)
    expect((await done(other.client.auth.getUser())).user.id).toBe(sessions[0]?.session?.user.id)
  })
})

type Command =
  | { readonly kind: 'look' | 'refresh'; readonly tabs: readonly (0 | 1)[] }
  | { readonly kind: 'age'; readonly seconds: number }
  | { readonly kind: 'faults'; readonly faults: readonly Fault[] }
  | { readonly kind: 'wait'; readonly seconds: number }
  | { readonly kind: 'revoke' }
  | { readonly kind: 'sign-out' | 'sign-in'; readonly tab: 0 | 1 }

const tabs = fc.array(fc.constantFrom(0 as const, 1 as const), { minLength: 1, maxLength: 3 })
const fault = fc.constantFrom<Fault>(
  'unreachable',
  'answer-lost',
  'cut',
  'portal',
  'gateway',
  'overloaded',
  'limited',
  'wrong-key',
  'rubbish',
)
const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constantFrom('look' as const, 'refresh' as const), tabs }) },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('age' as const), seconds: fc.constantFrom(-3600, -1, 40, 80, 120) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('faults' as const), faults: fc.array(fault, { maxLength: 10 }) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('wait' as const), seconds: fc.constantFrom(1, 6, 61) }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'revoke' as const }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constantFrom('sign-out' as const, 'sign-in' as const),
      tab: fc.constantFrom(0 as const, 1 as const),
    }),
  },
)

type Person = 'good' | 'revoked' | 'out'

interface Scene {
  readonly storage: AuthStorage
  readonly tabs: readonly [Tab, Tab]
  readonly credentials: ReturnType<typeof someone>
}

/** Does one thing, and returns the state of the person. */
async function act(scene: Scene, person: Person, step: Command): Promise<Person> {
  switch (step.kind) {
    case 'age':
      await age(scene.storage, step.seconds)
      return person
    case 'faults':
      service.plan(step.faults)
      return person
    case 'wait':
      await sleep(step.seconds * 1000)
      return person
    case 'revoke':
      await server.db.query('delete from auth.sessions using auth.users u where u.id = user_id and u.email = $1', [
        scene.credentials.email,
      ])
      return person === 'out' ? 'out' : 'revoked'
    case 'look':
    case 'refresh':
      await Promise.all(step.tabs.map((index) => ask(scene.tabs[index], step.kind)))
      return person
    case 'sign-in':
      return passed(scene.tabs[step.tab].client.auth.signInWithPassword(scene.credentials)).then(() => 'good')
    case 'sign-out':
      return (await passed(scene.tabs[step.tab].client.auth.signOut())) ? 'out' : person
  }
}

/** Whether an operation succeeded; a failed one must have an error. */
async function passed(operation: Promise<Result<object>>): Promise<boolean> {
  const { error } = await operation
  if (error !== null) expect([error.name, error.code]).toEqual(['AuthError', expect.not.stringMatching(/^unexpected/)])
  return error === null
}

async function ask({ client: { auth } }: Tab, kind: 'look' | 'refresh'): Promise<void> {
  const operation = kind === 'look' ? auth.getSession() : auth.refreshSession()
  const { session } = (await operation).data
  await passed(operation)
  // Whatever is handed out can be used.
  if (session !== null) expect(session.expires_at * 1000).toBeGreaterThan(now() - 1000)
}

it('whatever happens on the way, two tabs never lose a session that is good, and never throw', async () => {
  const run = async (history: readonly Command[], withLocks: boolean): Promise<void> => {
    clock = 0
    service.plan([])
    const storage = createStorage()
    const environment = { locks: withLocks ? createLocks() : null }
    const pair = [open({ ...storage }, { environment }), open({ ...storage }, { environment })] as const
    const scene = { storage, tabs: pair, credentials: someone() }
    await done(pair[0].client.auth.signUp(scene.credentials))
    let person: Person = 'good'
    for (const step of history) person = await act(scene, person, step)
    service.plan([])
    clock += 61_000
    await age(storage, -1)
    for (const { client } of pair) {
      expect((await client.auth.getSession()).data.session !== null).toBe(person === 'good')
      if (person === 'good') expect((await client.auth.getUser()).data.user?.email).toBe(scene.credentials.email)
    }
    closeTabs()
  }
  const histories = fc.array(command, { minLength: 1, maxLength: 12 })
  await fc.assert(fc.asyncProperty(histories, fc.boolean(), run), { numRuns: 25 })
}, 120_000)
