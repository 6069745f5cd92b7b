import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { overSessions } from '../../support/database.ts'
import { startAuthServer, type Answer } from '../../support/auth.ts'
import { forSuite } from '../../support/for-suite.ts'

const server = forSuite(startAuthServer, {
  settings: { anonymous_enabled: 'on', mail_cooldown: '0', mail_ceiling: '100000' },
})

const cutEverybody = () =>
  overSessions(server.db).query(`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and application_name <> ''`)
const numbers = async (sql: string, ...values: unknown[]): Promise<unknown> =>
  (await server.db.query(sql, values)).rows[0]
const post = (path: string, body: object): Promise<Answer> => server.call('POST', path, { body })
const wrong = (code: string): string => String((Number(code) + 1) % 1_000_000).padStart(6, '0')

/** Answers of a server whose database comes and goes, and whether one of them was no answer of ours at all. */
interface Traffic {
  readonly statuses: number[]
  stop: boolean
}

const keepDoing = async (traffic: Traffic, act: () => Promise<Answer>): Promise<void> => {
  while (!traffic.stop) {
    const { status, headers, body } = await act()
    traffic.statuses.push(status)
    if (status < 500) continue
    expect(JSON.stringify(body)).not.toMatch(/terminat|ECONN|select |insert /i)
    if (status === 503) expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
  }
}

it('attack 35: a database that restarts under load loses answers for the moment, and nothing else', async () => {
  const traffic: Traffic = { statuses: [], stop: false }
  const { body } = await post('/signup', {})
  let honest: string = body.refresh_token
  const refresh = async (): Promise<Answer> => {
    const answer = await post('/token?grant_type=refresh_token', { refresh_token: honest })
    honest = answer.body.refresh_token ?? honest
    return answer
  }
  const email = `${randomUUID()}@example.com`
  await post('/otp', { email })
  const code = (await server.mails(email))[0]?.code ?? ''
  const guess = () => post('/verify', { type: 'email', email, token: wrong(code) })
  const mailed = () => post('/otp', { email: `${randomUUID()}@example.com` })

  const work = Promise.all([
    keepDoing(traffic, refresh),
    keepDoing(traffic, () => post('/signup', {})),
    keepDoing(traffic, mailed),
    keepDoing(traffic, guess),
  ])
  for (let round = 0; round < 8; round += 1) {
    await new Promise((resolve) => setTimeout(resolve, 120))
    await cutEverybody()
  }
  traffic.stop = true
  await work

  const [failed, fine] = [
    traffic.statuses.filter((status) => status >= 500),
    traffic.statuses.filter((status) => status === 200),
  ]
  expect([failed.length > 0, fine.length > 0]).toEqual([true, true])
  expect(traffic.statuses.filter((status) => ![200, 403, 500, 503].includes(status))).toEqual([])
  // The work behind a failed answer is done completely or not at all.
  await expect.poll(async () => (await post('/signup', {})).status, { timeout: 10_000 }).toBe(200)
  expect((await refresh()).status).toBe(200)
  expect((await server.call('GET', '/health')).status).toBe(200)
  expect(
    await numbers(`select
      (select count(*)::int from auth.users u where u.email is not null
        and not exists (select from auth.identities i where i.user_id = u.id)) as without_identity,
      (select count(*)::int from auth.users u where u.email is not null
        and not exists (select from auth.one_time_tokens t where t.user_id = u.id)) as without_mail,
      (select count(*)::int from auth.users u where u.is_anonymous
        and not exists (select from auth.sessions s where s.user_id = u.id)) as without_session,
      (select count(*)::int from auth.sessions s where 1 <>
        (select count(*) from auth.refresh_tokens t where t.session_id = s.id and not t.revoked)) as without_one_token`),
  ).toEqual({ without_identity: 0, without_mail: 0, without_session: 0, without_one_token: 0 })
  // Guesses that were counted stay counted, whatever became of their answers.
  for (let i = 0; i < 5; i += 1) expect((await guess()).status).toBe(403)
  expect(
    await numbers(
      'select tries from catalograph_auth.codes c join auth.users u on u.id = c.user_id where u.email = $1',
      email,
    ),
  ).toEqual({ tries: 5 })
  expect((await post('/verify', { type: 'email', email, token: code })).body.error_code).toBe('otp_expired')
})
