import { describe, expect, it, onTestFinished } from 'vitest'
import { keysCommand } from '../../../compiler/commands/keys.ts'
import { createTokenVerifier, signToken } from '../../../runtime/identity/jwt.ts'
import { addedKey, keysOf, projectKeys } from '../../../runtime/identity/project-keys.ts'
import { createKnownKeys } from '../../../runtime/identity/revoked-keys.ts'
import { askOwner, secret, startAuthServer } from '../../support/auth.ts'
import { runCommand, type CommandAnswer } from '../../support/command.ts'
import { openEvents } from '../../support/event-client.ts'
import { forSuite } from '../../support/for-suite.ts'
import { serveBuilt } from '../../support/served.ts'
import { until } from '../../support/until.ts'

/** Project keys that are revoked one by one (spec/auth.md 2.1). */

const server = forSuite(startAuthServer, {
  sql: `comment on schema public is '@graphql({"live": {"enabled": true}})';
      create table note (id int primary key);
      grant select on note to anon, service_role;
      grant usage on schema public to anon, service_role`,
})
const other = forSuite(() => server.another())

const keys = (args: readonly string[], environment: Record<string, string> = {}): Promise<CommandAnswer> =>
  runCommand([keysCommand], ['keys', ...args], {
    environment: { DATABASE_OWNER_URL: server.db.ownerUrl, JWT_SECRET: secret, ...environment },
  })
/** Makes a key, and gives it and its id. */
const added = async (role: string): Promise<readonly [key: string, id: string]> => {
  const { printed } = await keys(['add', role])
  const [, key = '', id = ''] = printed.split(/ +/)
  expect(printed).toMatch(new RegExp(`^${role} +[\\w-]+\\.[\\w-]+\\.[\\w-]+  [0-9a-f]{16}$`))
  return [key, id]
}

const ask = async (url: string, key: string, bearer?: string): Promise<{ status: number; text: string }> => {
  const headers = { 'content-type': 'application/json', apikey: key }
  const response = await fetch(`${url}/graphql/v1`, {
    method: 'POST',
    headers: { ...headers, ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }) },
    body: JSON.stringify({ query: '{ noteCollection { edges { node { id } } } }' }),
  })
  return { status: response.status, text: await response.text() }
}
const statusOf = async (url: string, key: string, bearer?: string): Promise<number> =>
  (await ask(url, key, bearer)).status
/** Of the admin endpoints of auth and of the project. */
const ofOwner = async (key: string) => {
  const users = await server.call('GET', '/admin/users', { headers: { apikey: key }, token: key })
  const settings = await askOwner(server, 'GET', '/settings', undefined, key)
  return [users.status, settings.status]
}

describe('a revoked key', () => {
  it('is refused by every running server, and all other keys stay good', async () => {
    const [mine] = await added('service_role')
    const [theirs, id] = await added('service_role')
    for (const key of [mine, theirs, server.serviceRole, server.anon]) {
      expect([await statusOf(server.url, key), await statusOf(other.url, key)]).toEqual([200, 200])
    }
    expect(await ofOwner(theirs)).toEqual([200, 200])
    expect(await keys(['revoke', id])).toEqual({
      exitCode: 0,
      printed: `The service_role key ${id} is revoked. Every running server and handler obeys within a second.`,
      noted: '',
    })
    for (const { url } of [server, other]) await until(async () => (await statusOf(url, theirs)) === 401)
    expect((await ask(server.url, theirs)).text).toContain('"Invalid API key"')
    expect(await statusOf(server.url, server.anon, theirs)).toBe(401)
    const refused = await server.call('POST', '/signup', { headers: { apikey: theirs }, body: {} })
    expect([refused.status, refused.body]).toEqual([401, { message: 'Invalid API key' }])
    expect(await server.call('GET', '/admin/users', { token: theirs })).toMatchObject({
      status: 403,
      body: { error_code: 'bad_jwt' },
    })
    expect((await askOwner(server, 'GET', '/settings', undefined, theirs)).body).toMatchObject({ code: 'bad_jwt' })
    for (const key of [mine, server.serviceRole, server.anon]) {
      expect([await statusOf(server.url, key), await statusOf(other.url, key)]).toEqual([200, 200])
    }
    expect(await ofOwner(mine)).toEqual([200, 200])
  })

  it('stays refused by processes that start later, from their first request on', { timeout: 90_000 }, async () => {
    const [key, id] = await added('anon')
    await keys(['revoke', id])
    const later = await server.another()
    const workers = await serveBuilt(server.db, { JWT_SECRET: secret, WORKERS: '2' })
    onTestFinished(async () => {
      await workers.stop()
      await later.stop()
    })
    expect([await statusOf(later.url, key), await statusOf(later.url, server.anon)]).toEqual([401, 200])
    for (let time = 0; time < 8; time += 1) expect(await statusOf(workers.url, key)).toBe(401)
    expect(await statusOf(workers.url, server.anon)).toBe(200)
  })

  it('stays refused while the list cannot be read', async () => {
    const [key, id] = await added('anon')
    await keys(['revoke', id])
    await until(async () => (await statusOf(server.url, key)) === 401)
    await server.db.query('alter table catalograph.project_keys rename to elsewhere')
    onTestFinished(async () => void (await server.db.query('alter table catalograph.elsewhere rename to project_keys')))
    await new Promise((resolve) => setTimeout(resolve, 1_500))
    expect([await statusOf(server.url, key), await statusOf(server.url, server.anon)]).toEqual([401, 200])
  })

  it('ends the streams that it opened, and no others', { timeout: 150_000 }, async () => {
    const [key, id] = await added('service_role')
    const open = (apikey: string) =>
      openEvents(
        `${server.url}/graphql/v1`,
        { query: 'subscription { noteCollection { edges { node { id } } } }' },
        { apikey },
      )
    const streams = await Promise.all(Array.from({ length: 12 }, () => open(key)))
    const kept = await open(server.anon)
    onTestFinished(async () => {
      for (const stream of [...streams, kept]) stream.close()
    })
    for (const stream of [...streams, kept]) expect((await stream.next())?.event).toBe('next')
    await keys(['revoke', id])
    const ends = streams.map(async (stream) => [await stream.next(), await stream.next()].map((event) => event?.data))
    // Each is checked every thirty seconds, and not all of them at once.
    const [last, end] = await Promise.race(ends)
    expect([last, end]).toEqual([expect.stringContaining('"KEY_INVALID"'), ''])
    expect(kept.waiting()).toBe(0)
    await server.db.query('insert into note values (1)')
    expect((await kept.next())?.data).toContain('"id":1')
  })

  it('can be one of those that come of the secret, however its signature is written', async () => {
    const rotated = { JWT_SECRET: 'another secret of more than thirty-two characters', JWT_SECRET_PREVIOUS: secret }
    const environment = { ...rotated, JWT_SECRET_PREVIOUS_UNTIL: '2100-01-01' }
    const { serviceRole } = projectKeys(secret)
    const id = keysOf(secret, [])[1]?.id ?? ''
    expect((await keys(['list'], environment)).printed).toContain(`${id}  service_role  of the previous secret`)
    expect((await keys(['revoke', serviceRole], environment)).printed).toContain(`key ${id} is revoked`)
    await until(async () => (await statusOf(server.url, serviceRole)) === 401)
    expect(await ofOwner(serviceRole)).toEqual([401, 403])
    // The last character has two bits that mean nothing.
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
    const last = alphabet.indexOf(serviceRole.slice(-1))
    for (const place of [0, 1, 2, 3]) {
      const written = serviceRole.slice(0, -1) + alphabet[(last & ~3) + place]
      expect(await statusOf(server.url, written)).toBe(401)
    }
    expect(await statusOf(server.url, server.anon)).toBe(200)
    // Those of the other secret are other keys.
    expect((await keys([], environment)).printed).toContain(projectKeys(rotated.JWT_SECRET).serviceRole)
    expect((await keys([])).printed).not.toContain(serviceRole)
    expect((await keys(['list'])).printed).toMatch(new RegExp(`^${id}  service_role  of the secret  revoked 2`, 'm'))
  })

  it('of browsers is not what the dashboard shows to connect with', async () => {
    const [spare] = await added('anon')
    const [owner] = await added('service_role')
    const shown = async (): Promise<string> =>
      (await askOwner(server, 'GET', '/project', undefined, owner)).body.anon_key
    expect(await shown()).toBe(server.anon)
    await keys(['revoke', server.anon])
    await until(async () => (await shown()) !== server.anon)
    expect((await keys([])).printed).toContain(await shown())
    expect(await statusOf(server.url, await shown())).toBe(200)
    expect(await statusOf(server.url, spare)).toBe(200)
  })
})

describe('the list of keys', () => {
  const revoked = [{ id: 'a', role: 'anon', addedAt: null, revokedAt: '2026-01-01T00:00:00Z' }]
  const open = () => {
    const state = { time: 0, reads: 0, rows: [] as typeof revoked }
    const read = async () => {
      state.reads += 1
      return state.rows
    }
    const now = () => state.time
    return { state, known: createKnownKeys({ read, now, unknown: () => new Error('unknown'), reading: 'ahead' }) }
  }

  it('is read once for all requests that come at once after a rest, and none of them goes by the old one', async () => {
    const { state, known } = open()
    expect(await known.isRevoked('a')).toBe(false)
    known.stop()
    state.rows = revoked
    state.time += 3_600_000
    expect(await Promise.all([known.isRevoked('a'), known.isRevoked('a')])).toEqual([true, true])
    expect(state.reads).toBe(2)
    known.stop()
  })

  it('is read at most every twenty seconds for what is open', async () => {
    const { state, known } = open()
    expect(await known.wasRevoked('a')).toBe(false)
    state.rows = revoked
    state.time += 19_999
    expect([await known.wasRevoked('a'), state.reads]).toEqual([false, 1])
    state.time += 1
    expect([await known.wasRevoked('a'), state.reads]).toEqual([true, 2])
  })
})

describe('catalograph keys', () => {
  it('refuses values that are not keys of the project, and unknown ones', async () => {
    const foreign = projectKeys('a third secret that has more than thirty-two characters').anon
    const person = signToken({ role: 'authenticated', sub: 'x' }, secret)
    for (const given of ['0000000000000000', foreign, person, 'a.b.c']) {
      expect(await keys(['revoke', given])).toEqual({
        exitCode: 1,
        printed: '',
        noted: 'catalograph: unknown key; catalograph keys list shows all keys',
      })
    }
    for (const args of [['add'], ['add', 'authenticated'], ['revoke'], ['list', 'x'], ['new', 'anon']])
      expect((await keys(args)).exitCode).toBe(2)
    expect((await keys(['new', 'anon'])).noted).toContain('keys knows no new')
  })

  it('revokes once, keeps the date, and says where no key of a role is left', async () => {
    const [, id] = await added('anon')
    await keys(['revoke', id])
    const dated = async () => (await keys(['list'])).printed.split('\n').find((line) => line.startsWith(id))
    const first = await dated()
    expect(first).toMatch(/^[0-9a-f]{16} {2}anon {10}added \S+Z {2}revoked \S+Z$/)
    await server.db.query("update catalograph.project_keys set revoked_at = '2020-01-01Z' where id = $1", [id])
    expect((await keys(['revoke', id])).exitCode).toBe(0)
    expect(await dated()).toContain('revoked 2020-01-01T00:00:00Z')
    const lines = (await keys([])).printed.split('\n').filter((line) => line.startsWith('anon'))
    const ids = lines.map((line) => line.split(/ +/)[2] ?? '')
    const noted: string[] = []
    for (const each of ids) noted.push((await keys(['revoke', each])).noted)
    expect(noted.map((note) => note !== '')).toEqual(ids.map((_, index) => index === ids.length - 1))
    expect(noted.at(-1)).toBe('No anon key is left: catalograph keys add anon')
  })

  it('prints without a database, and says where one does not answer', async () => {
    const alone = await keys([], { DATABASE_OWNER_URL: '' })
    expect(alone.printed.split('\n').map((line) => line.split(/ +/)[1])).toEqual([server.anon, server.serviceRole])
    expect(alone.noted).toBe('catalograph: these are the keys of JWT_SECRET')
    const away = await keys([], { DATABASE_OWNER_URL: 'postgres://nobody@127.0.0.1:1/none' })
    expect([away.exitCode, away.printed]).toEqual([0, alone.printed])
    expect(away.noted).toContain('which keys were added or revoked is not known')
    expect((await keys(['list'], { DATABASE_OWNER_URL: server.db.url })).exitCode).toBe(0)
    const denied = await keys(['add', 'anon'], { DATABASE_OWNER_URL: server.db.url })
    expect([denied.exitCode, denied.noted]).toEqual([1, expect.stringContaining('set DATABASE_OWNER_URL to the owner')])
  })

  it('a token of a person is none, unless it was signed with an id', async () => {
    const asked: string[] = []
    const isRevoked = (id: string): boolean => asked.push(id) > 0
    const verify = createTokenVerifier({ secret, now: Date.now, isRevoked })
    const refused = { kind: 'refused', fault: 'signature' }
    expect(await verify(signToken({ role: 'authenticated', sub: 'x' }, secret))).toMatchObject({ kind: 'verified' })
    expect(await verify(signToken({ role: 'authenticated', sub: 'x', jti: 'one' }, secret))).toEqual(refused)
    expect(await verify(addedKey('anon', 'two', secret))).toEqual(refused)
    expect(asked).toEqual(['one', 'two'])
  })
})
