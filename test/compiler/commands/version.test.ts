import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { builtCli } from '../../support/built-cli.ts'

/** Parts of commands that a run of the built command line loads, as V8 reports them (manual of Node, NODE_V8_COVERAGE). */
const commandsLoadedBy = async (...args: readonly string[]): Promise<readonly string[]> => {
  const folder = await mkdtemp(join(tmpdir(), 'catalograph-loaded-'))
  try {
    await promisify(execFile)(process.execPath, [builtCli, ...args], { env: { NODE_V8_COVERAGE: folder } })
    const files = await readdir(folder)
    const texts = await Promise.all(files.map((file) => readFile(join(folder, file), 'utf8')))
    const found = texts.flatMap((text) => [...text.matchAll(/\/part-(serve|verify|codegen|diff|keys)-[^"/]*"/g)])
    return [...new Set(found.map(([, name = '']) => name))].toSorted()
  } finally {
    await rm(folder, { recursive: true })
  }
}

it(
  'the command line loads no command to print the version, one for its help, and all to list them',
  { timeout: 60_000 },
  async () => {
    expect(await commandsLoadedBy('--version')).toEqual([])
    expect(await commandsLoadedBy('help', 'keys')).toEqual(['keys'])
    expect(await commandsLoadedBy('--help')).toEqual(['codegen', 'diff', 'keys', 'serve', 'verify'])
  },
)
