import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { toFailure } from '../../../runtime/graphql/run/response.ts'
import { Refusal } from '../../../runtime/graphql/protocol/failures.ts'
import { forSuite } from '../../support/for-suite.ts'
import { createTestService } from '../../support/service.ts'

/** An answer never repeats its request: what it prints of one is cut, and its errors have a total bound. */

const service = forSuite(createTestService, {
  sql: `comment on schema public is '@graphql({"inflect_names": true})';
  create table board (id int primary key, title text); grant select on board to anon`,
})
const document = 'query ($f: BoardFilter) { boardCollection(filter: $f) { edges { node { id } } } }'
const keys = (count: number, name: (place: number) => string, value: unknown = 1) =>
  Object.fromEntries(Array.from({ length: count }, (_, place) => [name(place), value]))
const long = 'x'.repeat(20_000)
/** In characters, of an answer about values of any length. */
const mostCharacters = 100_000

describe('the errors of an answer', () => {
  it.each<[string, unknown]>([
    ['many unknown members', keys(20_000, (place) => `k${place}`)],
    ['unknown members with long names', keys(200, (place) => `${long}${place}`)],
    ['long values of unknown members', keys(50, (place) => `k${place}`, long)],
    ['a long text in place of an object', { id: long }],
    ['a long text in place of a number', { id: { eq: long } }],
    ['a long text in a list of numbers', { id: { in: Array.from({ length: 60 }, () => long) } }],
    ['a long text in place of an enum', { id: { is: long } }],
    ['a long number in place of another', { id: { eq: BigInt('9'.repeat(900)) } }],
  ])('do not repeat %s', async (_title, f) => {
    const { errors } = await service.graphql(document, { variables: { f } })
    expect(errors?.[0]?.extensions.code).toBe('BAD_VARIABLES')
    expect(JSON.stringify(errors).length).toBeLessThan(mostCharacters)
    for (const { message } of errors ?? []) expect(message.length).toBeLessThan(2_100)
  })

  it.each([
    ['an unknown field with a long name', `{ ${long} }`],
    [
      'many unknown fields',
      `{ ${Array.from({ length: 90 }, (_, place) => `${long.slice(0, 2_000)}${place}`).join(' ')} }`,
    ],
    ['a long literal of another type', `{ boardCollection(filter: {id: {eq: "${long}"}}) { edges { cursor } } }`],
    ['a long name of a type', `query ($a: ${long}) { __typename }`],
  ])('do not repeat %s of a document', async (_title, text) => {
    const { errors } = await service.graphql(text)
    expect(errors?.length).toBeGreaterThan(0)
    expect(JSON.stringify(errors).length).toBeLessThan(mostCharacters)
  })

  it('are whole where they are short, and as many as fit where they are long', () => {
    const entry = fc.record({
      message: fc.string({ maxLength: 5_000, size: 'max' }),
      extensions: fc.constant({ code: 'BAD_VARIABLES' as const }),
    })
    fc.assert(
      fc.property(fc.array(entry, { minLength: 1, maxLength: 100 }), (errors) => {
        const { body } = toFailure(new Refusal('BAD_VARIABLES', errors), null)
        const answer = JSON.parse(String(body)) as { readonly data: unknown; readonly errors: typeof errors }
        expect(answer.data).toBeNull()
        const whole = JSON.stringify(errors).length < 60_000 && errors.every(({ message }) => message.length <= 2_000)
        if (whole) expect(answer.errors).toEqual(errors)
        else expect(answer.errors.length).toBeLessThanOrEqual(errors.length)
        expect(String(body).length).toBeLessThan(mostCharacters)
      }),
    )
  })
})
