import { pathToFileURL } from 'node:url'
import { expect, it } from 'vitest'
import { loadVerifyCommand } from '../../../compiler/commands/verify.ts'
import { runCommand } from '../../support/command.ts'

const without = async (from: string, ...args: readonly string[]) =>
  runCommand([await loadVerifyCommand(from)], ['verify', ...args], { environment: {} })

it('the command verify says how to add its package, whatever is asked of it', async () => {
  const lacking = 'verify is in a package of its own: npm install --save-dev @catalograph/none'
  for (const args of [[], ['--minutes', '1'], ['table']]) {
    const ran = await without('@catalograph/none', ...args)
    expect(ran).toMatchObject({ exitCode: 2, noted: expect.stringContaining(lacking) })
  }
  expect(await without('@catalograph/none', '--help')).toMatchObject({
    exitCode: 0,
    printed: expect.stringContaining(lacking),
  })
})

it('the command verify says why a package that is there cannot be loaded', async () => {
  const url = pathToFileURL('/nowhere/command.js').href
  const ran = await without(url)
  expect(ran.exitCode).toBe(2)
  expect(ran.noted).toContain(`verify cannot be loaded from ${url}: Cannot find module`)
})
