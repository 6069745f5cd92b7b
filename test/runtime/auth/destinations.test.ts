import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, it, test } from 'vitest'
import { siteUrl, type Answer, type AuthServer } from '../../support/auth.ts'
import { forSuite } from '../../support/for-suite.ts'
import { locationOf, startGoogle } from '../../support/google.ts'

const listed = 'https://listed.example.com/welcome'
const elsewhere = 'https://elsewhere.example.org'

let server: AuthServer
const stage = forSuite(startGoogle, 'id-token', { redirect_allow_list: listed })
beforeAll(async () => {
  server = stage.server
})

interface Asking {
  readonly at: string
  /** The holder of the address: none, an unconfirmed account, a user who is not signed in, the caller. */
  readonly whose: 'nobody' | 'applicant' | 'user' | 'caller'
  readonly as?: 'service_role'
  readonly body?: object
}

const password = 'correct horse'

/** Every call that mails a link or makes one. */
const askings: readonly Asking[] = [
  { at: 'POST /signup', whose: 'nobody', body: { password } },
  { at: 'POST /otp', whose: 'user' },
  { at: 'POST /otp', whose: 'nobody' },
  { at: 'POST /magiclink', whose: 'user' },
  { at: 'POST /recover', whose: 'user' },
  { at: 'POST /resend', whose: 'applicant', body: { type: 'signup' } },
  { at: 'POST /resend', whose: 'nobody', body: { type: 'signup' } },
  { at: 'PUT /user', whose: 'caller' },
  { at: 'POST /invite', whose: 'nobody', as: 'service_role' },
  { at: 'POST /admin/generate_link', whose: 'user', as: 'service_role', body: { type: 'magiclink' } },
]

/** Those that mail: no mail is sent again to an unknown address. */
const mailing = askings.filter(({ at, whose }) => at !== 'POST /resend' || whose !== 'nobody')

const asService = (method: string, path: string, body: object): Promise<Answer> =>
  server.call(method, path, { body, token: server.serviceRole })

const prepare = async ({ at, whose, as, body = {} }: Asking) => {
  const email = `${randomUUID()}@example.com`
  const [method = '', path = ''] = at.split(' ')
  if (whose === 'applicant') {
    await server.call('POST', '/otp', { body: { email } })
    await server.settled()
  }
  if (whose === 'user' || whose === 'caller') await asService('POST', '/admin/users', { email, email_confirm: true })
  let token = as === 'service_role' ? server.serviceRole : server.anon
  if (whose === 'caller') {
    const { hashed_token: token_hash } = (await asService('POST', '/admin/generate_link', { type: 'magiclink', email }))
      .body
    token = (await server.call('POST', '/verify', { body: { type: 'magiclink', token_hash } })).body.access_token
  }
  const sent = { email: whose === 'caller' ? `new-${email}` : email, ...body }
  const ask = (query = '', headers = {}) => server.call(method, `${path}?${query}`, { body: sent, headers, token })
  return { email, ask }
}
const state = async (email: string): Promise<unknown> => {
  const users = await server.db.query('select to_jsonb(u) - $2::text[] as row from auth.users u where email = $1', [
    email,
    ['last_sign_in_at', 'updated_at'],
  ])
  return [users.rows, await server.mails(email), await server.mails(`new-${email}`)]
}
/** The link of a mail, or the one that was made without. */
const linkOf = async (email: string, { body }: Answer): Promise<URL> => {
  const [mail] = [...(await server.mails(`new-${email}`)), ...(await server.mails(email))]
  return new URL(body.action_link ?? mail?.url ?? '')
}
/** Where a link leads to, wherever it says that the project is. */
const follow = async ({ search }: URL): Promise<string> =>
  locationOf(await server.call('GET', `/verify${search}`, { headers: { apikey: '' } })).href

describe('a mailed link', () => {
  test.each(askings)(
    'fact 34: of $at for $whose leads to no place on neither list; nothing is sent',
    async (asking) => {
      const { email, ask } = await prepare(asking)
      const before = await state(email)
      const refusal = { code: 400, error_code: 'validation_failed' }
      const msg = 'redirect_to is not the Site URL or on the allowed list'
      for (const bad of [elsewhere, `${listed}/more`, 'http://127.0.0.1:3000', 'javascript:alert(1)']) {
        expect((await ask(`redirect_to=${encodeURIComponent(bad)}`)).body).toMatchObject({ ...refusal, msg })
        expect((await ask('', { redirect_to: bad })).body).toMatchObject({ ...refusal, msg })
      }
      expect(await state(email)).toEqual(before)
    },
  )

  test.each(mailing)(
    'facts 34, 35: of $at for $whose leads where it was asked to, else to the site',
    async (asking) => {
      for (const [query, expected] of [
        [`redirect_to=${encodeURIComponent(`${listed}#part`)}`, `${listed}#part`],
        [`redirect_to=${encodeURIComponent(`${siteUrl}/deep?a=1`)}`, `${siteUrl}/deep?a=1`],
        ['', siteUrl],
        ['redirect_to=foo%40bar.com', siteUrl],
      ] as const) {
        const { email, ask } = await prepare(asking)
        const answer = await ask(query, { referer: `${elsewhere}/page` })
        expect(answer.status).toBe(200)
        const link = await linkOf(email, answer)
        expect(link.searchParams.get('redirect_to')).toBe(expected)
        const landed = await follow(link)
        expect(landed.startsWith(expected.replace(/#.*/, ''))).toBe(true)
      }
    },
  )

  it('facts 34, 35: leads to the page that asked for it where that is allowed', async () => {
    const { email, ask } = await prepare({ at: 'POST /recover', whose: 'user' })
    const link = await linkOf(email, await ask('', { referer: `${siteUrl}/forgotten` }))
    expect(link.searchParams.get('redirect_to')).toBe(`${siteUrl}/forgotten`)
  })

  it('facts 34, 35: that lost its destination on the way leads to the site', async () => {
    const { email, ask } = await prepare({ at: 'POST /recover', whose: 'user' })
    const link = await linkOf(email, await ask(`redirect_to=${listed}`))
    link.searchParams.delete('redirect_to')
    expect((await follow(link)).startsWith(`${siteUrl}/#access_token=`)).toBe(true)
  })
})

describe('the way to Google', () => {
  it('facts 34, 35: comes back to the site when no destination is named', async () => {
    const landed = await stage.signIn(stage.newPerson())
    expect(landed.origin + landed.pathname).toBe(`${siteUrl}/`)
  })
})
