import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import { mailKinds } from '../../../../runtime/auth/mails/kinds.ts'
import { addressHeader, call, siteUrl, startAuthServer, type Answer } from '../../../support/auth.ts'
import { forSuite } from '../../../support/for-suite.ts'
import { sendAsItIs } from '../../../support/raw-request.ts'
import { startMailServer } from '../../../support/mail-server.ts'

const mails = forSuite(startMailServer)
const server = forSuite(() =>
  startAuthServer({ settings: { mail_ceiling: '1000', anonymous_enabled: 'on' }, smtpUrl: mails.url }),
)
beforeEach(() => mails.behave('accept'))

const password = 'correct horse'
const newAddress = (): string => `${randomUUID()}@example.com`
const post = async (path: string, body: object, headers: Record<string, string> = {}): Promise<Answer> => {
  const answer = await server.call('POST', path, { body, headers })
  await server.settled()
  return answer
}
const signUp = (email: string, source: string): Promise<Answer> =>
  post('/signup', { email, password }, { [addressHeader]: source })
const to = (email: string) => mails.received.filter(({ recipients }) => recipients.includes(email))
const newest = (email: string) => to(email).at(-1)
const accepted = async (): Promise<number> =>
  (await server.db.query('select count(*)::int as n from catalograph_auth.accepted_mails')).rows[0].n
const member = async (): Promise<{ email: string; token: string }> => {
  const email = newAddress()
  await post('/signup', { email, password })
  const { body } = await post('/verify', { type: 'signup', email, token: newest(email)?.code })
  return { email, token: body.access_token }
}

describe('a mail', () => {
  it('facts 36, 48, 57: is HTML with a button, the link and the site, from the project itself', async () => {
    const email = newAddress()
    await post('/signup', { email, password })
    const mail = newest(email)
    expect([mail?.from, mail?.recipients]).toEqual(['no-reply@127.0.0.1', [email]])
    // The one that a reader shall prefer comes last (RFC 2046 section 5.1.4).
    expect(Object.keys(mail?.parts ?? {})).toEqual(['text/plain', 'text/html'])
    expect(mail?.html.match(/<a href="http[^"]*\/auth\/v1\/verify\?token=/g)).toHaveLength(2)
    expect(mail?.html).toContain('https://app.example.com</a>')
    expect((await server.db.query('select from catalograph_auth.outbox')).rowCount).toBe(0)
  })

  it('says that a machine has sent it, so that no absence reply comes back', async () => {
    const email = newAddress()
    await post('/signup', { email, password })
    const head = newest(email)?.head ?? ''
    expect(head).toMatch(/^Auto-Submitted: auto-generated\r?$/m)
    expect(head).toMatch(/^X-Auto-Response-Suppress: All\r?$/m)
  })

  it('says the same as text: link, code and site, word for word', async () => {
    const email = newAddress()
    await post('/signup', { email, password })
    const { text = '', url = '', code } = newest(email) ?? {}
    expect(text.trimEnd()).toBe(`Confirm your address

Somebody signed up with ${email}.

Confirm (${url})

If the button does not work, open this address:
${url}

Or type this code: ${code}

This mail was sent on behalf of ${siteUrl}. If you did not ask for it, ignore it.`)
    expect((await post('/verify', { type: 'signup', email, token: code })).status).toBe(200)
  })

  it('attack 6: has links of the settings alone', async () => {
    const email = newAddress()
    const forged = { 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'http', forwarded: 'host=evil.example' }
    const headers = { ...forged, host: 'evil.example', apikey: server.anon }
    const body = JSON.stringify({ email, password })
    expect((await sendAsItIs(`${server.url}/auth/v1/signup`, { method: 'POST', headers, body })).status).toBe(200)
    expect(newest(email)?.url.startsWith(`${server.url}/auth/v1/verify?`)).toBe(true)
    expect(Object.values(newest(email)?.parts ?? {}).join()).not.toContain('evil')
  })

  it('attack 27: takes nothing of its data for markup, headers or another recipient', async () => {
    await server.db.query(
      `insert into catalograph_auth.templates values ('confirmation', 'Hello {{ .Data.name }}',
        '<p title="{{ .Data.name }}">{{ .Data.name }}</p><a href="{{ .ConfirmationURL }}">x</a><a href="{{ .Data.link }}">y</a>')`,
    )
    const email = newAddress()
    const name = '<img src=x onerror=1>"\r\nBcc: other@example.com\r\n\r\n<b>'
    await post('/signup', { email, password, data: { name, link: 'javascript:alert(1)' } })
    const mail = newest(email)
    expect(mail?.recipients).toEqual([email])
    expect(mail?.head).not.toMatch(/^Bcc:/im)
    expect(mail?.html).toContain('&lt;img src=x onerror=1&gt;&quot;')
    expect(mail?.html).not.toMatch(/<img|<b>|javascript:/)
    expect(mail?.html).toContain('<a href="#">')
    expect(mail?.text.split('\n')[0]).toBe('<img src=x onerror=1>" Bcc: other@example.com <b>')
    expect(mail?.text).not.toContain('javascript:')
    await server.db.query('delete from catalograph_auth.templates')
  })

  it('facts 43, 47: comes in five kinds', async () => {
    await server.set({ mail_cooldown: '0' })
    const { email, token } = await member()
    const [next, invited] = [newAddress(), newAddress()]
    await post('/recover', { email })
    await post('/otp', { email })
    await server.call('PUT', '/user', { token, body: { email: next } })
    await server.call('POST', '/invite', { body: { email: invited }, token: server.serviceRole })
    await server.set({ mail_cooldown: '60' })
    const sent = [...to(email).slice(0, 3), newest(next), newest(invited)]
    const said = sent.map((mail) => [
      new URL(mail?.url ?? '').searchParams.get('type'),
      /^Subject: (.+)\r$/m.exec(mail?.head ?? '')?.[1],
      mail?.text.includes(mail.url) === true && mail.text.includes(mail.code),
    ])
    expect(said).toEqual([
      ['signup', mailKinds.confirmation.subject, true],
      ['recovery', mailKinds.recovery.subject, true],
      ['magiclink', mailKinds.magic_link.subject, true],
      ['email_change', mailKinds.email_change.subject, true],
      ['invite', mailKinds.invite.subject, true],
    ])
    expect(newest(next)?.html).toContain(`shall have the address ${next}`)
    expect(newest(next)?.text).toContain(`shall have the address ${next}`)
  })
})

describe('a mail server', () => {
  it.each(['down', 'refuse'] as const)(
    'attack 33: that is out of order (%s) leaves nothing behind, and the next try works',
    async (mood) => {
      const [email, count] = [newAddress(), await accepted()]
      mails.behave(mood)
      const failed = await post('/signup', { email, password })
      expect([failed.status, failed.body.error_code, failed.body.msg]).toEqual([
        500,
        'unexpected_failure',
        'Error sending confirmation email',
      ])
      expect((await server.db.query('select from auth.users where email = $1', [email])).rowCount).toBe(0)
      // spec/auth.md, fact 56.
      expect(await accepted()).toBe(count)
      mails.behave('accept')
      expect((await post('/signup', { email, password })).status).toBe(200)
      expect([to(email).length, await accepted()]).toEqual([1, count + 1])
    },
  )

  it('attack 33: that fails an account takes nothing from it', async () => {
    const { email, token } = await member()
    await server.set({ mail_cooldown: '0' })
    await post('/recover', { email })
    const good = newest(email)
    const next = newAddress()
    const read = async () =>
      (
        await server.db.query(
          `select to_json(u) as user, (select json_agg(s) from auth.sessions s where s.user_id = u.id) as sessions,
            (select json_agg(o order by o.id) from auth.one_time_tokens o where o.user_id = u.id) as tokens,
            (select json_agg(c) from catalograph_auth.codes c where c.user_id = u.id) as codes,
            (select json_agg(a order by a.id) from auth.audit_log_entries a) as audited
          from auth.users u where email = $1`,
          [email],
        )
      ).rows
    const before = await read()
    mails.behave('refuse')
    // Facts about one account stand in the log.
    for (const path of ['/recover', '/otp']) expect((await post(path, { email })).status).toBe(200)
    expect(server.events.filter(({ kind }) => kind === 'mail-failed')).toHaveLength(2)
    expect(await read()).toEqual(before)
    const body = { email: next, password: 'another horse', data: { a: 1 } }
    const change = await server.call('PUT', '/user', { token, body })
    expect(change.body.msg).toBe('Error sending email change email')
    expect(await read()).toEqual(before)
    expect((await post('/verify', { type: 'recovery', email, token: good?.code })).status).toBe(200)
    await server.set({ mail_cooldown: '60' })
  })

  it('attack 34: that thinks holds no lock, and is given up in time', async () => {
    const { email, token } = await member()
    mails.behave('slow')
    const next = newAddress()
    const began = performance.now()
    const late = server.call('PUT', '/user', { token, body: { email: next, data: { slow: true } } })
    await post('/token?grant_type=password', { email, password })
    await expect
      .poll(
        async () =>
          (await server.db.query('select from catalograph_auth.outbox where recipient = $1', [next])).rowCount,
        { interval: 20 },
      )
      .toBe(1)
    expect((await post('/token?grant_type=password', { email, password })).status).toBe(200)
    await server.db.query(
      `set lock_timeout = '200ms'; update auth.users set updated_at = now() where email = '${email}'; reset lock_timeout`,
    )
    const answer = await late
    expect([answer.status, answer.body.msg]).toEqual([500, 'Error sending email change email'])
    expect(performance.now() - began).toBeLessThan(20_000)
  })
})

describe('a request that was answered', () => {
  const pending = async (): Promise<number> =>
    (await server.db.query('select from catalograph_auth.mail_requests')).rowCount ?? 0
  const failures = (): number => server.events.filter(({ kind }) => kind === 'mail-failed').length
  /** A request whose mail the server puts off. */
  const putOff = async (): Promise<string> => {
    const { email } = await member()
    mails.behave('later')
    const before = failures()
    expect((await server.call('POST', '/recover', { body: { email } })).status).toBe(200)
    await expect.poll(failures).toBeGreaterThan(before)
    expect([await pending(), newest(email)?.url]).toEqual([1, expect.stringContaining('type=signup')])
    return email
  }

  it('is kept while the mail server says that it takes the mail later, and made with a code that works', async () => {
    const email = await putOff()
    mails.behave('accept')
    await server.settled()
    const mail = newest(email)
    expect([to(email).length, mail?.url]).toEqual([2, expect.stringContaining('type=recovery')])
    expect((await post('/verify', { type: 'recovery', email, token: mail?.code })).status).toBe(200)
  }, 60_000)

  it('is given up after some minutes, and its cooldown with it', async () => {
    const email = await putOff()
    await server.db.query(`update catalograph_auth.mail_requests
      set created_at = now() - interval '8 minutes', taken_at = now() - interval '2 minutes'`)
    await server.settled()
    mails.behave('accept')
    expect((await post('/recover', { email })).status).toBe(200)
    expect(to(email)).toHaveLength(2)
  }, 60_000)

  it('is done by the process that is asked to stop, before it ends', async () => {
    const { email } = await member()
    const other = await server.another()
    const answer = await call(other.url, server.anon, 'POST', '/recover', { body: { email } })
    await other.stop()
    expect(answer.status).toBe(200)
    await expect.poll(() => newest(email)?.url).toContain('type=recovery')
  })

  it('is done by another process when its own has ended', async () => {
    const { email } = await member()
    const request = {
      input: { email, data: {}, challenge: null, destination: siteUrl },
      client: { address: '192.0.2.1', source: '192.0.2.1', userAgent: null },
      begun: [],
    }
    await server.db.query(
      `insert into catalograph_auth.mail_requests (kind, request, taken_at)
      values ('recovery', $1, now() - interval '61 seconds')`,
      [JSON.stringify(request)],
    )
    await server.settled()
    expect(newest(email)?.url).toContain('type=recovery')
    expect(to(email)).toHaveLength(2)
  })
})

describe('limits of mails', () => {
  it('attack 21: known and unknown addresses get the same answers, cooldown included', async () => {
    const known = await member()
    const shape = (answer: Answer) => {
      const headers = Object.fromEntries(
        [...answer.headers].filter(([name]) => !['date', 'x-request-id', 'retry-after'].includes(name)),
      )
      return {
        status: answer.status,
        headers,
        body: JSON.parse(JSON.stringify(answer.body).replace(/after \d+ seconds/, 'after N seconds')),
      }
    }
    for (const [path, more] of [
      ['/recover', {}],
      ['/resend', { type: 'signup' }],
      ['/resend', { type: 'email_change' }],
      ['/magiclink', {}],
      ['/otp', {}],
    ] as const) {
      const unknown = newAddress()
      // The pause that began with the account is over for both.
      await server.db.query('delete from catalograph_auth.cooldowns')
      for (const status of [200, 429]) {
        const pair = [
          await post(path, { email: known.email, ...more }),
          await post(path, { email: unknown, ...more }),
        ].map(shape)
        expect(pair[0]).toEqual(pair[1])
        expect(pair[0]?.status).toBe(status)
      }
    }
    await post('/recover', { email: known.email })
    const again = await post('/recover', { email: known.email })
    expect(again.body).toMatchObject({
      error_code: 'over_email_send_rate_limit',
      msg: expect.stringMatching(/^For security purposes, you can only request this after \d+ seconds\.$/),
    })
    expect(Number(again.headers.get('retry-after'))).toBeGreaterThan(0)
    mails.behave('down')
    await server.db.query('delete from catalograph_auth.cooldowns')
    const down = [await post('/recover', { email: known.email }), await post('/recover', { email: newAddress() })]
    expect(down.map(({ status, body }) => [status, body.msg])).toEqual(
      Array(2).fill([500, 'Error sending recovery email']),
    )
  })

  it('attack 11: resending is bound by the cooldown, in parallel too', async () => {
    const email = newAddress()
    await post('/signup', { email, password })
    await server.db.query('delete from catalograph_auth.cooldowns')
    const all = await Promise.all(Array.from({ length: 10 }, () => post('/resend', { type: 'signup', email })))
    expect(all.map(({ status }) => status).sort()).toEqual([200, ...Array(9).fill(429)])
    expect(to(email)).toHaveLength(2)
  })

  it('fact 56, attack 11: the ceiling counts what was accepted, and parallel calls do not pass it', async () => {
    await server.db.query('delete from catalograph_auth.accepted_mails')
    await server.set({ mail_ceiling: '9' })
    mails.behave('refuse')
    expect((await post('/signup', { email: newAddress(), password })).status).toBe(500)
    mails.behave('accept')
    const all = await Promise.all(
      [1, 1, 1, 1, 1, 2, 2, 2, 2, 3].map((source) => signUp(newAddress(), `203.0.113.${source}`)),
    )
    expect(all.filter(({ status }) => status === 200)).toHaveLength(6)
    const refused = all.find(({ status }) => status === 429)
    expect(refused?.body).toMatchObject({ error_code: 'over_email_send_rate_limit', msg: 'email rate limit exceeded' })
    expect(await accepted()).toBe(6)
    await server.db.query(`update catalograph_auth.accepted_mails set accepted_at = now() - interval '61 minutes'`)
    expect((await post('/signup', { email: newAddress(), password })).status).toBe(200)
    await server.set({ mail_ceiling: '1000' })
  })

  it('fact 56: one source has a third of the ceiling, sign-ups leave a third, and it is known when they may go on', async () => {
    const known = await member()
    await server.db.query('delete from catalograph_auth.accepted_mails')
    await server.set({ mail_ceiling: '9', mail_cooldown: '0' })
    const statuses = async (count: number, source: string): Promise<readonly number[]> => {
      const found: number[] = []
      for (let call = 0; call < count; call += 1) found.push((await signUp(newAddress(), source)).status)
      return found
    }
    expect(await statuses(4, '198.51.100.1')).toEqual([200, 200, 200, 429])
    expect(await statuses(4, '198.51.100.2')).toEqual([200, 200, 200, 429])
    expect(await statuses(1, '198.51.100.3')).toEqual([429])
    const recover = (source: string) => post('/recover', { email: known.email }, { [addressHeader]: source })
    expect((await recover('198.51.100.3')).status).toBe(200)
    expect(to(known.email)).toHaveLength(2)
    // The source that has its part waits for its own mails, and new accounts for the first of all.
    await server.db.query(`update catalograph_auth.accepted_mails set accepted_at = now() - interval '50 minutes'
      where source = '198.51.100.1'`)
    await server.db.query(`update catalograph_auth.accepted_mails set accepted_at = now() - interval '20 minutes'
      where source = '198.51.100.2'`)
    const waits = async (answer: Promise<Answer>) => Math.round(Number((await answer).headers.get('retry-after')) / 60)
    expect(await waits(signUp(newAddress(), '198.51.100.3'))).toBe(10)
    expect(await waits(recover('198.51.100.2'))).toBe(40)
    await server.db.query(`update catalograph_auth.accepted_mails set accepted_at = now() - interval '61 minutes'
      where source = '198.51.100.1'`)
    expect(await statuses(2, '198.51.100.3')).toEqual([200, 200])
    await server.set({ mail_ceiling: '1000' })
  })
})
