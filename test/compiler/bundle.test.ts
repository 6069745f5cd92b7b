import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { builtCli } from '../support/built-cli.ts'

describe('the bundled command line', () => {
  const built = dirname(builtCli)
  const parts = readdirSync(built).filter((name) => name.startsWith('part-'))

  it('holds Ascii characters alone, which V8 keeps in half of the space', () => {
    expect(parts.length).toBeGreaterThan(40)
    expect(parts.filter((name) => /[^\0-\x7f]/.test(readFileSync(join(built, name), 'utf8')))).toEqual([])
  })

  it('requires no package that is an ES module alone, which Node 22 takes from 22.12 on', async () => {
    // Some of them import the entry, which runs a command and ends the process.
    const program = `
      process.exit = () => undefined
      for (const name of ${JSON.stringify(parts)}) await import(${JSON.stringify(`${built}/`)} + name)
      console.log('each part is loaded')`
    const flags = ['--no-experimental-require-module', '--input-type=module']
    const { stdout } = await promisify(execFile)(process.execPath, [...flags, '-e', program])
    expect(stdout).toContain('each part is loaded')
  })
})
