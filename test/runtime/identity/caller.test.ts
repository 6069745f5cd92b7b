import { describe, expect, it } from 'vitest'
import { createAuthenticate } from '../../../runtime/identity/caller.ts'
import { createTokenVerifier, signToken } from '../../../runtime/identity/jwt.ts'
import { projectKeys } from '../../../runtime/identity/project-keys.ts'

const secret = 'a secret that has more than thirty-two characters'
const authenticate = createAuthenticate(createTokenVerifier({ secret, now: Date.now }))
const { anon, serviceRole } = await projectKeys(secret)
const user = await signToken({ role: 'authenticated', sub: 'u1' }, secret)
const foreign = (await projectKeys(`${secret} of another project`)).anon

const identify = (apikey?: string, authorization?: string) => authenticate({ apikey, authorization })

describe('the caller', () => {
  it('must bring a key', async () => {
    expect(await identify()).toEqual({ kind: 'key-missing' })
    expect(await identify('')).toEqual({ kind: 'key-missing' })
    expect(await identify(undefined, `Bearer ${user}`)).toEqual({ kind: 'key-missing' })
  })

  it('must bring a key of this project', async () => {
    expect(await identify('nonsense')).toEqual({ kind: 'key-invalid' })
    expect(await identify(foreign)).toEqual({ kind: 'key-invalid' })
    expect(await identify(`${anon}, ${anon}`)).toEqual({ kind: 'key-invalid' })
    expect(await identify(foreign, `Bearer ${user}`)).toEqual({ kind: 'key-invalid' })
  })

  it("is the key's role without a bearer token", async () => {
    const caller = { role: 'anon', claims: '{"iss":"catalograph","role":"anon"}' }
    expect(await identify(anon)).toEqual({ kind: 'caller', caller })
    expect(await identify(serviceRole)).toMatchObject({ caller: { role: 'service_role' } })
  })

  it("is the bearer token's person with one, whatever the key", async () => {
    const caller = { role: 'authenticated', claims: '{"role":"authenticated","sub":"u1"}', user: 'u1' }
    expect(await identify(anon, `Bearer ${user}`)).toEqual({ kind: 'caller', caller })
    expect(await identify(serviceRole, `bearer  ${user}`)).toEqual({ kind: 'caller', caller })
    expect(await identify(anon, `Bearer ${anon}`)).toMatchObject({ caller: { role: 'anon' } })
  })

  it('is nobody with a bearer token that cannot be believed, although the key is good', async () => {
    const twice = `Bearer ${user}, Bearer ${user}`
    for (const authorization of ['', 'Bearer', 'Bearer ', 'Basic dTpw', user, `Bearer ${user} x`, twice]) {
      expect(await identify(serviceRole, authorization)).toEqual({ kind: 'token-invalid', fault: 'malformed' })
    }
    expect(await identify(serviceRole, `Bearer ${foreign}`)).toEqual({ kind: 'token-invalid', fault: 'signature' })
  })
})
