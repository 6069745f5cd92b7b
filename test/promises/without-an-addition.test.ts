import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

/**
 * Promise: an addition is a folder and its row. On a copy without them what remains has sound types and passes tests of the core.
 * `npm run test:without -- --all` asks this of every addition.
 */

test('the core stands without explain', { timeout: 300_000 }, async () => {
  const { stdout } = await promisify(execFile)('node', ['test/support/without-addition.mjs', 'explain'])
  expect(stdout).toContain('The core stands without each of them.')
})
