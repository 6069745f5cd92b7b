import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import type { RunRecord } from '../../bench/support/record.ts'

/** Every benchmark runs through, on next to no data. How long anything took is judged nowhere. */
const effort = [
  '--processes',
  '1',
  '--scale',
  '0.01',
  '--rounds',
  '1',
  '--seconds',
  '0.1',
  '--warm-up',
  '1',
  '--rate',
  '50',
  '--runs',
  '2',
]
const long = ['--tables', '20', '--requests', '50', '--changes', '2', '--steps', '1', '--largest', '100']

test('the benchmarks run and leave records', { timeout: 600_000 }, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'catalograph-smoke-'))
  try {
    const names = ['translate', 'sql', 'shapes', 'serve', 'memory', 'start', 'loop', 'observe', 'curves', 'workers']
    const args = ['bench/run.mjs', ...names, '--built', ...effort, ...long]
    const { stdout } = await promisify(execFile)(process.execPath, args, {
      env: { ...process.env, BENCH_RECORDS: folder },
    })
    for (const title of [
      'Translation',
      'SQL against',
      'Wide and deep',
      'Serving',
      'Memory',
      'Starting',
      'Documents',
      'Watched',
      'Exponents',
      'Workers',
    ])
      expect(stdout).toContain(title)
    const files = (await readdir(folder)).filter((file) => file.endsWith('.json'))
    const records = await Promise.all(
      files.map(async (file) => JSON.parse(await readFile(join(folder, file), 'utf8')) as RunRecord),
    )
    expect(records.map(({ bench }) => bench).sort()).toEqual([...names].sort())
    for (const { figures, commit } of records) {
      expect(commit).not.toBe('')
      for (const value of Object.values(figures).flat()) expect(value).toEqual(expect.any(Number))
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})
