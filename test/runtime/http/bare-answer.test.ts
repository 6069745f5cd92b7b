import { expect, it } from 'vitest'
import { bareAnswer, bareText, renderPlainBare, type RenderBare } from '../../../runtime/http/boundary.ts'

it('a bare answer is rendered once, and has an id of its own each time', () => {
  const asked: string[] = []
  const render: RenderBare = (failure) => {
    asked.push(failure.code)
    return { status: 418, headers: { 'x-pot': 'tea' }, body: { failed: failure.code } }
  }
  const [one, other] = [bareAnswer('OVERLOADED', render), bareAnswer('OVERLOADED', render)]
  expect(one.body).toBe('{"failed":"OVERLOADED"}')
  expect({ ...other, headers: { ...other.headers, 'x-request-id': one.headers['x-request-id'] } }).toEqual(one)
  expect(other.headers['x-request-id']).not.toBe(one.headers['x-request-id'])
  expect(bareText('UNAVAILABLE', render)).toContain('\r\n\r\n{"failed":"UNAVAILABLE"}')
  expect(asked).toEqual(['OVERLOADED', 'UNAVAILABLE'])
  expect(bareAnswer('OVERLOADED', renderPlainBare).status).toBe(503)
})
