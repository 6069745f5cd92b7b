import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import type { RunRecord } from '../../bench/support/record.ts'
import { topologies } from '../support/topologies.ts'
import { isWhole, leftToWhole } from '../support/whole.ts'

/** Benchmarks run through, on next to no data. How long anything took is judged nowhere. */
const effort =
  '--processes 1 --scale 0.01 --rounds 1 --seconds 0.02 --connections 2 --warm-up 0 --rate 100 --runs 1 ' +
  '--tables 10 --values 1000 --compiled --documents 5 --kinds aliases --requests 50 --changes 2 --steps 1 --largest 10'

/** With the title of what each prints. */
const benches = {
  translate: 'Translation',
  sql: 'SQL against',
  shapes: 'Wide and deep',
  serve: 'Serving',
  memory: 'Memory',
  start: 'Starting',
  compile: 'Compiling',
  loop: 'Documents',
  observe: 'Watched',
  curves: 'Exponents',
  workers: 'Workers',
} as const
type Bench = keyof typeof benches

const run = async (names: readonly Bench[]): Promise<void> => {
  const folder = await mkdtemp(join(tmpdir(), 'catalograph-smoke-'))
  try {
    const args = ['bench/run.mjs', ...names, '--built', ...effort.split(' ')]
    const { stdout } = await promisify(execFile)(process.execPath, args, {
      env: { ...process.env, BENCH_RECORDS: folder },
    })
    for (const name of names) expect(stdout).toContain(benches[name])
    const files = (await readdir(folder)).filter((file) => file.endsWith('.json'))
    const records = await Promise.all(
      files.map(async (file) => JSON.parse(await readFile(join(folder, file), 'utf8')) as RunRecord),
    )
    expect(records.map(({ bench }) => bench).sort()).toEqual([...names].sort())
    for (const { bench, figures, commit } of records) {
      expect(commit).not.toBe('')
      for (const [name, value] of Object.entries(figures))
        expect([value].flat(), `${bench}: ${name}`).toEqual([value].flat().map(() => expect.any(Number)))
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** One that asks this process, and one that asks a server. */
const few = ['translate', 'serve'] as const
const others = (Object.keys(benches) as Bench[]).filter((name) => !few.some((one) => one === name))

test(`the quick benchmarks ${few.join(', ')} run and leave records`, { timeout: 600_000 }, () => run(few))
test(`the benchmarks ${others.join(', ')} run and leave records`, { timeout: 600_000 }, async ({ skip }) => {
  skip(!isWhole, leftToWhole)
  await run(others)
})

/** Sends what the printed curl line would send. */
const runPrintedLine = async (welcome: string): Promise<unknown> => {
  const [, url = '', apikey = '', body = ''] =
    /curl -s (\S+) .* -H 'apikey: ([^']+)' \\\n +-d '([^']+)'/.exec(welcome) ?? []
  const headers = { 'content-type': 'application/json', apikey }
  return (await fetch(url, { method: 'POST', headers, body })).json()
}

/** By what the runs above compiled. */
const visit = async (name: string): Promise<void> => {
  const child = spawn(process.execPath, ['bench/dist/bench/topology.js', '--name', name], { stdio: 'pipe' })
  const ended = once(child, 'exit')
  let said = ''
  for (const output of [child.stdout, child.stderr])
    output.setEncoding('utf8').on('data', (text: string) => (said += text))
  const posts = { data: { postCollection: { edges: [{}, {}, {}] } } }
  try {
    await expect.poll(() => said, { timeout: 60_000 }).toContain('Ctrl-C stops it.')
    expect(await runPrintedLine(said)).toMatchObject(posts)
    if (!said.includes('Enter stops the primary')) return
    child.stdin.write('\n')
    await expect.poll(() => said, { timeout: 30_000 }).toMatch(/promotes a standby\.\nPostgres/)
    await expect.poll(() => runPrintedLine(said), { timeout: 30_000 }).toMatchObject(posts)
  } finally {
    child.kill('SIGINT')
    expect(await ended).toEqual([130, null])
  }
}

/** Those for which the command does something of its own; promises/live-topologies.test.ts opens each of them. */
const visited = topologies.filter(({ name }) =>
  (isWhole ? ['promotion', 'citus', 'hosts'] : ['promotion']).includes(name),
)
const missing = visited.flatMap((topology) => topology.missing() ?? [])
if (missing.length > 0) console.warn(`\n${missing.join('\n')}\n`)

test.each(visited.filter((topology) => topology.missing() === null))(
  'the topology $name starts by one command, answers and stops',
  { timeout: 120_000 },
  ({ name }) => visit(name),
)
