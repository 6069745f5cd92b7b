import { expect } from 'vitest'
import type { Answer } from './service.ts'

/** The data of an answer that must have no errors. */
export function dataOf(answer: Answer): Answer['data'] {
  expect(answer.errors).toBeUndefined()
  return answer.data
}

/** The messages of an answer that must be a failure: no data at all, and errors with codes. */
export function messagesOf(answer: Answer): readonly string[] {
  expect(answer.data).toBeNull()
  expect(answer.errors?.length).toBeGreaterThan(0)
  for (const { extensions } of answer.errors ?? []) expect(extensions.code).toMatch(/^[A-Z_]+$/)
  return (answer.errors ?? []).map(({ message }) => message)
}
