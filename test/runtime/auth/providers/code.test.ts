import { randomUUID } from 'node:crypto'
import { describe, expect, it, test } from 'vitest'
import { claimsOf } from '../../../support/auth.ts'
import { forSuite } from '../../../support/for-suite.ts'
import { fragmentOf, locationOf, newVerifier, stateOf, startGoogle } from '../../../support/google.ts'

const stage = forSuite(startGoogle, 'userinfo')

describe('the code of a flow', () => {
  const issued = async (person = stage.newPerson()): Promise<{ code: string; verifier: string }> => {
    const { verifier, query } = newVerifier()
    return { verifier, code: (await stage.signIn(person, query)).searchParams.get('code') ?? '' }
  }

  test('attack 19: of 20 callbacks with one state, and 20 exchanges of one code, one gets through', async () => {
    const { verifier, query } = newVerifier()
    const { search } = await stage.goThrough(stage.newPerson(), query)
    const landings = await Promise.all(Array.from({ length: 20 }, () => stage.callback(search)))
    const codes = landings.flatMap((answer) => locationOf(answer).searchParams.get('code') ?? [])
    expect(codes).toHaveLength(1)
    const answers = await Promise.all(Array.from({ length: 20 }, () => stage.exchange(codes[0] ?? '', verifier)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(new Set(answers.map(({ body }) => body.error_code))).toEqual(new Set([undefined, 'flow_state_not_found']))
  })

  test('attack 19: an implicit state gets through once', async () => {
    const { search } = await stage.goThrough(stage.newPerson())
    const landings = await Promise.all(Array.from({ length: 20 }, () => stage.callback(search)))
    expect(landings.filter((answer) => 'access_token' in fragmentOf(locationOf(answer)))).toHaveLength(1)
  })

  test('attack 20: without the verifier it is worth nothing, and five wrong ones end it', async () => {
    const { code, verifier } = await issued()
    const stolen = await stage.exchange(code, newVerifier().verifier)
    expect([stolen.status, stolen.body.error_code]).toEqual([400, 'bad_code_verifier'])
    expect((await stage.exchange(code, verifier)).status).toBe(200)
    const next = await issued()
    const tries = await Promise.all(Array.from({ length: 20 }, () => stage.exchange(next.code, newVerifier().verifier)))
    expect(tries.filter(({ body }) => body.error_code === 'bad_code_verifier')).toHaveLength(5)
    expect((await stage.exchange(next.code, next.verifier)).status).toBe(404)
  })

  it('is worth nothing before the callback, when it is old, or with a part missing', async () => {
    const { verifier, query } = newVerifier()
    const state = stateOf(await stage.authorize(query))
    const { rows } = await stage.server.db.query('select auth_code from auth.flow_state where id = $1', [state])
    expect((await stage.exchange(rows[0].auth_code, verifier)).status).toBe(404)
    const old = await issued()
    const age = `update auth.flow_state set created_at = now() - interval '301 seconds' where auth_code = $1`
    await stage.server.db.query(age, [old.code])
    const late = await stage.exchange(old.code, old.verifier)
    expect([late.status, late.body.error_code]).toEqual([422, 'flow_state_expired'])
    expect((await stage.exchange('', verifier)).body.msg).toBe(
      'invalid request: both auth code and code verifier should be non-empty',
    )
  })

  it('is valid from the moment that the link of a mail is opened, and says how the session began', async () => {
    const open = async (): Promise<{ code: string; verifier: string }> => {
      const email = `${randomUUID()}@example.com`
      const { verifier, query } = newVerifier()
      const { code_challenge, code_challenge_method } = Object.fromEntries(new URLSearchParams(query))
      const body = { email, password: 'correct horse', code_challenge, code_challenge_method }
      expect((await stage.server.call('POST', '/signup', { body })).status).toBe(200)
      await stage.server.db.query(`update auth.flow_state set created_at = now() - interval '1 hour'`)
      const { pathname, search } = new URL((await stage.server.mails(email))[0]?.url ?? '')
      const opened = await stage.server.call('GET', pathname.replace('/auth/v1', '') + search)
      return { verifier, code: locationOf(opened).searchParams.get('code') ?? '' }
    }
    const one = await open()
    const { status, body } = await stage.exchange(one.code, one.verifier)
    expect([status, 'provider_token' in body]).toEqual([200, false])
    expect(claimsOf(body.access_token)).toMatchObject({ amr: [{ method: 'email/signup' }] })
    const late = await open()
    const age = `update auth.flow_state set auth_code_issued_at = now() - interval '301 seconds' where auth_code = $1`
    await stage.server.db.query(age, [late.code])
    expect((await stage.exchange(late.code, late.verifier)).body.error_code).toBe('flow_state_expired')
  })

  it('opens nothing for a user who was banned in the meantime', async () => {
    const person = stage.newPerson()
    const { code, verifier } = await issued(person)
    const ban = `update auth.users set banned_until = now() + interval '1 day' where email = $1`
    await stage.server.db.query(ban, [person.email])
    expect((await stage.exchange(code, verifier)).body.error_code).toBe('user_banned')
    const { searchParams } = await stage.signIn(person)
    expect([searchParams.get('error'), searchParams.get('error_code')]).toEqual(['access_denied', 'user_banned'])
  })
})
