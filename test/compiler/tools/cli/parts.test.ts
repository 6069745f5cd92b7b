import { execFile } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { beforeEach, describe, expect, it } from 'vitest'
import { codeToKeep, createLoadPart, type LoadedPart } from '../../../../compiler/tools/cli/parts.ts'
import { builtCli } from '../../../support/built-cli.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'catalograph-parts-'))
  return () => rmSync(folder, { recursive: true })
})

/** Loads the part, and says whether V8 took the code beside it; undefined: none was given to it. */
const loaded = (name: string): { readonly exports: unknown; readonly rejected: boolean | undefined } => {
  const parts: LoadedPart[] = []
  const exports = createLoadPart(folder, (part) => parts.push(part))(name)
  return { exports, rejected: parts[0]?.script.cachedDataRejected }
}

const keep = (name: string): string => {
  const parts: LoadedPart[] = []
  createLoadPart(folder, (part) => parts.push(part))(name)
  const [part] = parts
  if (part === undefined) throw new Error('a part was loaded')
  const { file, content } = codeToKeep(part)
  writeFileSync(file, content)
  return file
}

describe('a part', () => {
  beforeEach(() => {
    writeFileSync(
      join(folder, 'one.cjs'),
      'const two = require("./two.cjs"); exports.sum = () => two.value + 1\nexports.sum()',
    )
    writeFileSync(join(folder, 'two.cjs'), 'exports.value = 1; exports.later = () => importModule("node:path")')
  })

  it('finds other parts, packages and what it imports later', async () => {
    const load = createLoadPart(folder)
    expect((load('one.cjs') as { sum: () => number }).sum()).toBe(2)
    expect(load('two.cjs')).toBe(load('two.cjs'))
    writeFileSync(join(folder, 'path.cjs'), 'exports.path = require("node:path")')
    const path = await import('node:path')
    expect(load('path.cjs')).toEqual({ path: path.default })
    expect(await (load('two.cjs') as { later: () => Promise<unknown> }).later()).toBe(path)
  })

  it('takes the code that was kept of it', () => {
    expect(loaded('one.cjs').rejected).toBeUndefined()
    keep('one.cjs')
    expect(loaded('one.cjs').rejected).toBe(false)
  })

  it('takes no code of another text of the same length', () => {
    keep('two.cjs')
    writeFileSync(
      join(folder, 'two.cjs'),
      readFileSync(join(folder, 'two.cjs'), 'utf8').replace('value = 1', 'value = 7'),
    )
    expect(loaded('two.cjs')).toMatchObject({ exports: { value: 7 }, rejected: undefined })
  })

  it('takes no code that was changed, and needs none', () => {
    const file = keep('two.cjs')
    const content = readFileSync(file)
    for (const at of [0, 31, 32, 60, content.length - 1]) {
      const changed = Buffer.from(content)
      changed.writeUInt8(255 - changed.readUInt8(at), at)
      writeFileSync(file, changed)
      expect(loaded('two.cjs')).toMatchObject({ exports: { value: 1 }, rejected: undefined })
    }
    for (const length of [0, 20, 32, content.length - 8]) {
      writeFileSync(file, content.subarray(0, length))
      expect(loaded('two.cjs')).toMatchObject({ exports: { value: 1 }, rejected: undefined })
    }
  })
})

describe('the built command line', () => {
  const run = promisify(execFile)
  const root = fileURLToPath(new URL('../../../../', import.meta.url))

  it('is of Ascii alone, which V8 keeps in half of the space', () => {
    const built = dirname(builtCli)
    const names = readdirSync(built).filter((name) => name.endsWith('.cjs'))
    expect(names).toContain('part-main.cjs')
    expect(names.filter((name) => /[^\0-\x7f]/.test(readFileSync(join(built, name), 'utf8')))).toEqual([])
  })

  it('loads nothing by require that is an ES module alone, which Node 22 takes from 22.12 on', async () => {
    const built = dirname(builtCli)
    const names = readdirSync(built).filter((name) => name.endsWith('.cjs'))
    const program = `
      const { createLoadPart } = await import(${JSON.stringify(join(built, 'part-parts.js'))})
      const load = createLoadPart(${JSON.stringify(built)})
      for (const name of ${JSON.stringify(names)}) load(name)
      console.log('loaded')`
    const flags = ['--no-experimental-require-module', '--input-type=module']
    const { stdout } = await run(process.execPath, [...flags, '-e', program])
    expect(stdout).toBe('loaded\n')
  })

  // What was built may be of another Node than the one that runs the tests.
  it('runs where nobody kept any code, and then takes what is kept', async () => {
    for (const path of ['dist', 'generated', 'package.json', 'compiler/warm.mjs'])
      cpSync(join(root, path), join(folder, path), { recursive: true, filter: (file) => !file.endsWith('.code') })
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
    const built = join(folder, 'dist/compiler')
    const { stdout: help } = await run(process.execPath, [join(built, 'cli.js'), 'serve', '--help'])
    expect(help).toContain('catalograph serve')

    await run(process.execPath, [join(folder, 'compiler/warm.mjs')], { env: { PATH: process.env['PATH'] } })
    const kept = readdirSync(built).filter((name) => name.endsWith('.code'))
    expect(kept.length).toBeGreaterThan(40)
    const program = `
      const { createLoadPart } = await import(${JSON.stringify(join(built, 'tools/cli/parts.js'))})
      const parts = []
      const load = createLoadPart(${JSON.stringify(built)}, (part) => parts.push(part))
      for (const name of ${JSON.stringify(kept)}) load(name.replace('.code', ''))
      console.log(JSON.stringify(parts.filter(({ script }) => script.cachedDataRejected !== false).map(({ path }) => path)))`
    const { stdout } = await run(process.execPath, ['--input-type=module', '-e', program])
    expect(JSON.parse(stdout)).toEqual([])
  })
})
