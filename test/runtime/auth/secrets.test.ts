import { randomUUID } from 'node:crypto'
import { beforeAll, expect, it } from 'vitest'
import { createLogger } from '../../../runtime/settings/log/logger.ts'
import type { AuthServer } from '../../support/auth.ts'
import { forSuite } from '../../support/for-suite.ts'
import { fragmentOf, newVerifier, startGoogle } from '../../support/google.ts'
import { google } from '../../support/openid-provider.ts'
import { codeOf, enrol, verify } from '../../support/totp.ts'

let server: AuthServer
const stage = forSuite(
  startGoogle,
  'id-token',
  {},
  {
    sql: `create function public.refuse() returns trigger language plpgsql as $$ begin
          if new.email like 'refused-%' then raise exception 'the owner refuses %', new.email; end if;
          return new;
        end $$;
        create trigger refuse before insert on auth.users for each row execute function public.refuse();
        alter table auth.users add constraint no_guests_of_ours check (email not like 'checked-%');`,
  },
)
beforeAll(async () => {
  server = stage.server
})

const password = 'correct horse battery'
const post = (path: string, body: object) => server.call('POST', path, { body })
const refresh = (refresh_token: string) => post('/token?grant_type=refresh_token', { refresh_token })

/** Goes through everything that a secret takes part in, well and badly, and gives back every secret that it met. */
async function live(): Promise<readonly string[]> {
  const email = `${randomUUID()}@example.com`
  await post('/signup', { email, password })
  const [mail] = await server.mails(email)
  const link = new URL(mail?.url ?? '')
  await server.call('GET', `/verify${link.search.replace('app.', 'evil.')}`)
  const { body } = await server.call('POST', '/verify', { body: { type: 'signup', email, token: mail?.code } })
  await server.call('GET', `/verify${link.search}`)
  const refreshed = (await refresh(body.refresh_token)).body
  const factor = await enrol(server, refreshed.access_token)
  const code = codeOf(factor.secret)
  const raised = await verify(server, { token: refreshed.access_token, factor, code })
  await verify(server, { token: raised.body.access_token, factor, code })
  await refresh(body.refresh_token)

  const { verifier, query } = newVerifier()
  const landed = await stage.signIn(stage.newPerson(), query)
  const auth_code = landed.searchParams.get('code') ?? ''
  await stage.exchange(auth_code, `${verifier}x`)
  const { body: session } = await stage.exchange(auth_code, verifier)
  const implicit = fragmentOf(await stage.signIn(stage.newPerson()))
  await server.call('GET', '/callback?state=00000000-0000-4000-8000-000000000000&code=a-code-of-google')

  for (const name of ['refused', 'checked']) {
    const failed = await post('/signup', { email: `${name}-${email}`, password: `${password} of the ${name}` })
    expect(failed.status).toBe(500)
  }
  await server.call('POST', '/signup', { body: `{"email":"x","password":"${password} broken` })
  await server.call('GET', `/settings?apikey=${server.anon}`, { headers: { apikey: '' } })
  await server.call('GET', `/nowhere?token=${body.access_token}`)
  await fetch(`${server.url}/graphql/v1?apikey=${server.anon}&access_token=${session.access_token}`)

  const { rows } = await server.db.query('select encrypted_password as hash from auth.users where email = $1', [email])
  const links = [link.searchParams.get('token'), mail?.code]
  const tokens = [body, refreshed, raised.body, session, implicit].flatMap((one) => [
    one.access_token,
    one.refresh_token,
  ])
  const providers = [session.provider_token, implicit['provider_token'], google.secret, 'a-code-of-google']
  return [
    password,
    rows[0].hash,
    ...links,
    ...tokens,
    factor.secret,
    code,
    auth_code,
    verifier,
    ...providers,
    server.secret,
  ]
}

/** Six digits may stand within an id by chance. */
const stands = (secret: string, text: string): boolean =>
  /^\d{6}$/.test(secret) ? new RegExp(`\\b${secret}\\b`).test(text) : text.includes(secret)

it('attack 44: codes, tokens and passwords are neither in the log, nor in the audit, nor in an address that is logged', async () => {
  const secrets = await live()
  expect(secrets.filter((secret) => typeof secret !== 'string' || secret.length < 6)).toEqual([])
  const lines: string[] = []
  const logger = { level: 'debug', secrets: [], write: (line: string) => void lines.push(line) } as const
  for (const human of [true, false]) {
    server.events.forEach(createLogger({ ...logger, human, now: () => new Date(0) }))
  }
  const log = lines.join('')
  // The log is loud enough for that to mean something.
  expect(log).toContain('/auth/v1/verify')
  expect(log).toContain('the owner refuses')
  const audit = (await server.db.query('select payload::text from auth.audit_log_entries')).rows
  expect(audit.length).toBeGreaterThan(5)
  const kept = log + JSON.stringify(audit)
  expect(secrets.filter((secret) => stands(secret, kept))).toEqual([])
  expect(kept).not.toMatch(/[?&](token|apikey|code|access_token)=/)
})
