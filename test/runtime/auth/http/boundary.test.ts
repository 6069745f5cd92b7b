import { expect, it } from 'vitest'
import { toErrorAnswer } from '../../../../runtime/auth/http/boundary.ts'
import { HttpFailure, type HttpFailureCode } from '../../../../runtime/http/boundary.ts'

it.each<[HttpFailureCode, number, string]>([
  ['REQUEST_TIMEOUT', 504, 'request_timeout'],
  ['OVERLOADED', 503, 'overloaded'],
  ['BODY_TOO_LARGE', 413, 'request_entity_too_large'],
  ['REQUEST_MALFORMED', 400, 'validation_failed'],
])('a request that HTTP refuses as %s is refused in the shape of auth', (code, status, errorCode) => {
  const answer = toErrorAnswer(new HttpFailure(code), 'initial', 'an id')
  expect(answer).toMatchObject({ status, body: { code: status, error_code: errorCode }, unexpected: false })
  expect(answer.headers['retry-after']).toBe(status === 503 ? '1' : undefined)
})
