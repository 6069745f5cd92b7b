import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { withBoth, withFragment, withQuery } from '../../../../runtime/auth/rules/landing.ts'

const page = 'https://app.example.com/cb'

describe('a landing', () => {
  it.each([
    ['?code=9&x=1', '?x=1&code=new'],
    ['?code=9', '?code=new'],
    ['?x=1&code=9&code=8&y=2', '?x=1&y=2&code=new'],
    ['?c%6fde=9', '?code=new'],
    ['?code', '?code=new'],
    ['?error=access_denied&error_code=otp_expired&error_description=Old&x=1', '?x=1&code=new'],
    ['?x=1&access_token=old&refresh_token=old#old', '?x=1&code=new'],
    ['?x=%26%3D%2B+y&a=1&a=2&type=list', '?x=%26%3D%2B+y&a=1&a=2&type=list&code=new'],
    ['?a=1&&b', '?a=1&&b&code=new'],
    ['?', '?&code=new'],
    ['?%zz=1&__proto__=2', '?%zz=1&__proto__=2&code=new'],
  ])('replaces members of its own names in the query %s', (query, landed) => {
    expect(withQuery(page + query, { code: 'new' })).toBe(page + landed)
  })

  it('with tokens or an error in the fragment leaves no older answer in the query', () => {
    expect(withFragment(`${page}?code=9&error=old&x=1#error=old`, { error_code: 'e' })).toBe(
      `${page}?x=1#error_code=e&sb=`,
    )
  })

  it('replaces a message only where it writes one', () => {
    expect(withFragment(`${page}?message=mine`, { message: 'ours' })).toBe(`${page}?message=mine#message=ours&sb=`)
    expect(withBoth(`${page}?message=mine&code=9`, { message: 'ours' })).toBe(`${page}?message=ours#message=ours&sb=`)
  })
})

test('of any two answers in turn the page reads the last one alone, and every other member is kept', () => {
  const fields = fc.constantFrom({ code: 'a' }, { error: 'b', error_code: 'c' }, { error_description: 'd' })
  const member = fc.tuple(fc.stringMatching(/^[a-z%+]{0,6}$/), fc.stringMatching(/^[a-z%+=]{0,6}$/))
  fc.assert(
    fc.property(fc.array(member, { maxLength: 4 }), fields, fields, (members, first, last) => {
      const query = members.map(([name, value]) => `o${name}=${value}`).join('&')
      const start = query === '' ? page : `${page}?${query}`
      expect(withQuery(withQuery(start, first), last)).toBe(withQuery(start, last))
      expect(withQuery(start, last).startsWith(start)).toBe(true)
    }),
  )
})
