import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest'
import { startAuthServer, type Answer, type AuthServer } from '../../support/auth.ts'
import { startMailServer, type MailServer } from '../../support/mail-server.ts'
import { askedOf, startProxy, type RecordingProxy } from '../../support/recording-proxy.ts'

/**
 * spec/auth.md, attacks 21 and 22: an answer, and the work that it waits for, is the same, no matter whom the address belongs
 * to.
 */

const password = 'correct horse'
const newAddress = (): string => `${randomUUID()}@example.com`

type Standing = 'unknown' | 'unconfirmed' | 'confirmed' | 'banned'
const standings: readonly Standing[] = ['unknown', 'unconfirmed', 'confirmed', 'banned']

/** Asked now and then whatever is called; a new connection begins with what has no name, and with who answers. */
const unrelated =
  /^(auth\.(settings\.read|throttles\.closed|mail-requests\.take|where-ready\.usable)|select pg_catalog\.pg_backend_pid\(\) as pid)?$/

/** Of work that is tried, what ends it: kept or taken back. */
const ended = /^auth\.mails\.(keep|take-back)$/

for (const withMailServer of [false, true]) {
  describe(withMailServer ? 'with a mail server' : 'with an outbox', () => {
    let mails: MailServer | null = null
    let proxy: RecordingProxy
    let server: AuthServer
    beforeAll(async () => {
      mails = withMailServer ? await startMailServer() : null
      server = await startAuthServer({
        settings: { mail_ceiling: '1000', mail_cooldown: '3600' },
        authPort: async (port) => {
          proxy = await startProxy(port)
          return proxy.port
        },
        ...(mails !== null && { smtpUrl: mails.url }),
      })
    })
    afterAll(async () => {
      await server?.stop()
      await proxy?.close()
      await mails?.stop()
    })

    const post = (path: string, body: object): Promise<Answer> => server.call('POST', path, { body })

    const addressOf = async (standing: Standing): Promise<string> => {
      const email = newAddress()
      if (standing !== 'unknown') expect((await post('/signup', { email, password })).status).toBe(200)
      if (standing === 'confirmed' || standing === 'banned') {
        await server.db.query('update auth.users set email_confirmed_at = now() where email = $1', [email])
      }
      if (standing === 'banned') {
        await server.db.query(`update auth.users set banned_until = now() + interval '1 day' where email = $1`, [email])
      }
      await server.db.query('delete from catalograph_auth.cooldowns')
      return email
    }

    /** The call's status and body, and what was asked of the database until it was answered. */
    const watched = async (path: string, body: object) => {
      await server.settled()
      proxy.clear()
      const answer = await post(path, body)
      const asked = askedOf(proxy.chunks()).filter((one) => !unrelated.test(one))
      return { answer, asked: asked.map((one) => (ended.test(one) ? 'end of the work' : one)) }
    }

    test.each([
      ['/recover', {}],
      ['/otp', {}],
      ['/otp', { create_user: true, data: { a: 1 } }],
      ['/magiclink', {}],
      ['/resend', { type: 'signup' }],
      ['/resend', { type: 'email_change' }],
      ['/recover', { code_challenge: 'c'.repeat(43), code_challenge_method: 'plain' }],
    ])('%s %o answers and asks the same', async (path, more) => {
      const seen = []
      for (const standing of standings) {
        const email = await addressOf(standing)
        const first = await watched(path, { email, ...more })
        const second = await watched(path, { email, ...more })
        seen.push([first, second].map(({ answer, asked }) => ({ status: answer.status, asked })))
        expect(first.answer.body).toEqual({})
      }
      expect(seen[0]?.map(({ status }) => status)).toEqual([200, 429])
      for (const one of seen) expect(one).toEqual(seen[0])
    })

    it('after /otp every other path answers the same, cooldowns included', async () => {
      for (const [path, more] of [
        ['/recover', {}],
        ['/resend', { type: 'signup' }],
        ['/signup', { password }],
      ] as const) {
        const statuses = []
        for (const standing of standings) {
          const email = await addressOf(standing)
          await post('/otp', { email })
          await server.settled()
          statuses.push((await post(path, { email, ...more })).status)
        }
        expect([path, ...new Set(statuses)]).toEqual([path, 429])
      }
    })

    test.each([{}, { data: { a: 1 } }, { code_challenge: 'c'.repeat(43), code_challenge_method: 'plain' }])(
      '/signup %o asks the same for new, unconfirmed and confirmed addresses, and keeps nothing of a decoy',
      async (more) => {
        const seen = []
        for (const standing of standings) {
          const email = await addressOf(standing)
          const before = (await server.db.query('select count(*)::int as n from auth.users')).rows[0].n
          const { answer, asked } = await watched('/signup', { email, password, ...more })
          const after = (await server.db.query('select count(*)::int as n from auth.users')).rows[0].n
          expect(after - before).toBe(standing === 'unknown' ? 1 : 0)
          const again = (await post('/signup', { email, password, ...more })).status
          seen.push({ status: answer.status, again, asked, keys: Object.keys(answer.body).sort() })
        }
        expect([seen[0]?.status, seen[0]?.again]).toEqual([200, 429])
        for (const one of seen) expect(one).toEqual(seen[0])
        const leftovers = await server.db.query(
          'select from catalograph_auth.outbox o where not exists (select from auth.users u where u.email = o.recipient)',
        )
        expect(leftovers.rowCount).toBe(0)
      },
    )

    it('a wrong password asks the same for every account', async () => {
      const seen = []
      for (const standing of standings) {
        const email = await addressOf(standing)
        const { answer, asked } = await watched('/token?grant_type=password', { email, password: 'wrong horse' })
        seen.push({ status: answer.status, body: answer.body, asked })
      }
      for (const one of seen) expect(one).toEqual(seen[0])
    })
  })
}
