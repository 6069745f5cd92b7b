import { describe, expect, it } from 'vitest'
import { previousSecretFindings } from '../../../compiler/commands/advise/doctor/surroundings.ts'
import { createTokenVerifier, signToken } from '../../../runtime/identity/jwt.ts'
import { projectKeys } from '../../../runtime/identity/project-keys.ts'
import { readSettings } from '../../../runtime/settings/read.ts'

const [secret, before] = ['the secret that signs, with 32 characters', 'the one before it, with 32 characters too']
const until = Date.UTC(2030, 0, 1)

describe('a rotated secret', () => {
  const clock = { at: until - 60_000 }
  const now = (): number => clock.at
  const verify = createTokenVerifier({ secret, previous: { secret: before, until }, now })
  const kindOf = async (token: string): Promise<string> => {
    const verdict = await verify(token)
    return verdict.kind === 'verified' ? 'verified' : verdict.fault
  }

  it('has keys and tokens of both secrets accepted until the date, and of the present one after it', async () => {
    const exp = until / 1000 + 3600
    const token = (of: string): string => signToken({ role: 'authenticated', sub: 'x', exp }, of)
    const [anon, old] = [projectKeys(secret).anon, projectKeys(before).anon]
    for (const one of [anon, old, token(secret), token(before)]) expect(await kindOf(one)).toBe('verified')
    expect(await kindOf(token('a third one that nobody ever had here'))).toBe('signature')
    // A verified token is not remembered for longer than the secret is valid.
    clock.at = until - 1
    expect(await kindOf(old)).toBe('verified')
    clock.at = until
    for (const one of [old, token(before)]) expect(await kindOf(one)).toBe('signature')
    for (const one of [anon, token(secret)]) expect(await kindOf(one)).toBe('verified')
  })

  it('says of a token of the previous secret that it has expired', async () => {
    clock.at = until - 60_000
    expect(await kindOf(signToken({ role: 'anon', exp: clock.at / 1000 - 60 }, before))).toBe('expired')
  })
})

describe('the settings of a rotation', () => {
  const read = (environment: Record<string, string>) => {
    const settings = readSettings({ JWT_SECRET: secret, ...environment })
    return settings.kind === 'invalid' ? settings.problems : settings.settings
  }

  it('mean nothing without each other', () => {
    expect(read({ JWT_SECRET_PREVIOUS: before })).toEqual(['JWT_SECRET_PREVIOUS needs JWT_SECRET_PREVIOUS_UNTIL'])
    expect(read({ JWT_SECRET_PREVIOUS_UNTIL: '2030-01-01' })).toEqual([
      'JWT_SECRET_PREVIOUS_UNTIL needs JWT_SECRET_PREVIOUS',
    ])
  })

  it.each(['tomorrow', '2030-13-01', '2030-01-01T12:00', '1893456000'])('take no date of another form: %s', (text) => {
    expect(read({ JWT_SECRET_PREVIOUS: before, JWT_SECRET_PREVIOUS_UNTIL: text })).toEqual([
      expect.stringMatching(/^JWT_SECRET_PREVIOUS_UNTIL must be a date/),
    ])
  })

  it('are reported by doctor as long as they are there', () => {
    const found = (environment: Record<string, string>, at: number): readonly string[] => {
      const settings = readSettings({ JWT_SECRET: secret, ...environment })
      if (settings.kind === 'invalid') throw new Error(settings.problems.join())
      return previousSecretFindings(settings.settings, at).map(({ message }) => message)
    }
    const rotation = { JWT_SECRET_PREVIOUS: before, JWT_SECRET_PREVIOUS_UNTIL: '2030-01-01' }
    expect(found({}, until)).toEqual([])
    expect(found(rotation, until - 1)).toEqual([expect.stringContaining('are accepted until 2030-01-01T00:00:00.000Z')])
    expect(found(rotation, until)).toEqual([expect.stringContaining('are refused since 2030-01-01')])
    expect(found({ ...rotation, JWT_SECRET_PREVIOUS: secret }, 0)).toEqual(['JWT_SECRET_PREVIOUS is JWT_SECRET itself'])
  })
})
