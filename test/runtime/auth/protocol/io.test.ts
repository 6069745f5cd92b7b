import { describe, expect, it } from 'vitest'
import { ownerRoute } from '../../../../runtime/console/admin/call.ts'
import * as ownerIo from '../../../../runtime/console/admin/io.ts'
import { patchTemplate } from '../../../../runtime/console/admin/templates.ts'
import type { Call } from '../../../../runtime/auth/call/call.ts'
import { signUp } from '../../../../runtime/auth/endpoints/sign-up.ts'
import { updateUser } from '../../../../runtime/auth/endpoints/user.ts'
import { route } from '../../../../runtime/auth/http/route.ts'
import { anything, body, flag, form, io, object, patch, query, text } from '../../../../runtime/auth/io/build.ts'
import * as userIo from '../../../../runtime/auth/io/user.ts'
import { readDeclared, readQuery, type BodyOf, type Io } from '../../../../runtime/auth/protocol/io.ts'

const key = { guard: 'key', assurance: 'none', limit: 'none', counted: true } as const

const { password: _password, ...withoutPassword } = userIo.signUp.body.members
const { subject: _subject, ...withoutSubject } = ownerIo.patchTemplate.body.members

describe('types of what an endpoint reads', () => {
  it('are those of its schema, and nothing else can be read', () => {
    const read = ({ query, body }: Call<typeof userIo.signUp>): readonly unknown[] => {
      const email: string | undefined = body.email
      const data: Readonly<Record<string, unknown>> | undefined = body.data
      // @ts-expect-error a text is not a flag
      const flag: boolean | undefined = body.email
      // @ts-expect-error POST /signup declares no such member
      const token: unknown = body.refresh_token
      // @ts-expect-error and no such parameter
      const type: unknown = query.grant_type
      return [email, data, flag, token, type]
    }
    const none = ({ query, body }: Call): readonly unknown[] => {
      // @ts-expect-error a call of an endpoint that takes nothing has no members
      const email: unknown = body.email
      // @ts-expect-error and no parameters
      return [email, query.provider]
    }
    expect([read, none]).toHaveLength(2)
  })

  it('hold each row to the schema that its endpoint reads', () => {
    const rows = [
      route({ at: 'POST /signup', ...key, io: userIo.signUp, handle: signUp }),
      // @ts-expect-error the password is read
      route({ at: 'POST /signup', ...key, io: { ...userIo.signUp, ...body(withoutPassword) }, handle: signUp }),
      // @ts-expect-error another endpoint's schema
      route({ at: 'POST /signup', ...key, io: userIo.magicLink, handle: signUp }),
      // @ts-expect-error without the guard there is no user
      route({ at: 'PUT /user', ...key, io: userIo.updateUser, handle: updateUser }),
      ownerRoute({ at: 'PATCH /templates/:kind', io: ownerIo.patchTemplate, handle: patchTemplate }),
      ownerRoute({
        at: 'PATCH /templates/:kind',
        io: { ...ownerIo.patchTemplate, ...body(withoutSubject) },
        // @ts-expect-error the subject is read
        handle: patchTemplate,
      }),
    ]
    expect(rows).toHaveLength(6)
  })
})

const members = { name: text('A name'), sure: flag('Whether'), data: object('An object'), any: anything('Refused') }
const json = io('A body of JSON', {}, body(members))

function read<I extends Io>(described: I, given: unknown): BodyOf<I> {
  return readDeclared(described, Buffer.from(typeof given === 'string' ? given : JSON.stringify(given))) as BodyOf<I>
}

describe('a body', () => {
  it('has the declared members alone, and null is as good as absent', () => {
    const { name, sure, data, any } = read(json, { name: 'x', sure: false, data: { a: 1 }, any: [1], more: 1 })
    expect([name, sure, data, any]).toEqual(['x', false, { a: 1 }, [1]])
    const absent = read(json, { name: null, data: null, any: null })
    expect([absent.name, absent.sure, absent.data, absent.any]).toEqual([undefined, undefined, undefined, undefined])
    expect('more' in read(json, { more: 1 })).toBe(false)
  })

  it('refuses a wrong type when it is read, not before', () => {
    const wrong = read(json, { name: 5, sure: 'yes', data: [] })
    const sentence = (what: string): string => `Could not parse request body as JSON: ${what}`
    expect(() => wrong.name).toThrow(sentence('name must be a string'))
    expect(() => wrong.sure).toThrow(sentence('sure must be true or false'))
    expect(() => wrong.data).toThrow(sentence('data must be an object'))
  })

  it('is empty where nothing came or nothing is declared, and has no names of objects', () => {
    expect(read(json, '').name).toBeUndefined()
    expect(read(io('Nothing', {}), '{"name": 1}')).toEqual({})
    expect(read(io('A trap', {}, body({ constructor: text('A name') })), {}).constructor).toBeUndefined()
  })

  it('may be a form, or a patch that is read whole', () => {
    expect(read(io('A form', {}, form({ name: text('A name') })), 'name=a&name=b').name).toBe('b')
    const whole = { name: null, more: 1 }
    expect(read(io('A patch', {}, patch({ name: anything('A name') })), whole)).toEqual(whole)
  })
})

describe('a query', () => {
  it('has the declared parameters, or all of them where they are passed on', () => {
    const given = { name: 'x', more: 'y' }
    const declared = io('A query', {}, query({ name: text('A name') }))
    expect(readQuery(declared, given)).toEqual({ name: 'x' })
    expect(readQuery({ ...declared, passesQuery: true }, given)).toEqual(given)
  })
})
