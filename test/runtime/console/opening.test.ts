import { expect, test } from 'vitest'
import { createDashboardLink } from '../../../runtime/console/opening.ts'

test('a link opens the dashboard once, and on this machine alone', () => {
  const opening = createDashboardLink('the key')
  expect(opening.code).not.toBe(createDashboardLink('the key').code)
  for (const address of ['10.0.0.1', '::ffff:10.127.0.1', '2001:db8::1', ''])
    expect(opening.spend(opening.code, address)).toBe(null)
  for (const guess of ['', 'x'.repeat(opening.code.length), `${opening.code}x`])
    expect(opening.spend(guess, '::1')).toBe(null)
  expect(opening.spend(opening.code, '::ffff:127.0.0.1')).toBe('the key')
  for (const address of ['127.0.0.1', '::1']) expect(opening.spend(opening.code, address)).toBe(null)
})
