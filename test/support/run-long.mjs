import { spawnSync } from 'node:child_process'
import { mkdirSync, openSync, closeSync } from 'node:fs'

/**
 * The whole suite at its full size, then the long runs, one after the other, since the siege measures what honest callers wait for
 * and nothing may run beside it:
 * node test/support/run-long.mjs [--minutes 20] [--seeds 1,2,3] [--topologies workers,pooler]
 * With topologies each of them goes through the laws, the exact run, the storm and the siege, on one seed unless several are given.
 * Ends with a table, and with 1 where one of them failed; what each wrote is in node_modules/.long.
 */
const options = new Map()
for (let index = 2; index < process.argv.length; index += 2) options.set(process.argv[index], process.argv[index + 1])
const topologies = options.get('--topologies')?.split(',') ?? null
const minutes = options.get('--minutes') ?? (topologies === null ? '20' : '1')
const draw = (count) => Array.from({ length: count }, () => String(Math.floor(Math.random() * 1_000_000)))
const seeds = options.get('--seeds')?.split(',') ?? draw(topologies === null ? 3 : 1)

/** Those of one seed, but for the laws, which draw a seed of their own. */
const seeded = (name, more, length = minutes) =>
  seeds.map((seed) => ({ name, seed, topology: '', args: ['--minutes', length, '--seed', seed, ...more] }))

/** The siege stops the server that takes writes, of which Citus has several, and starts its service on this host. */
const besieged = (topology) => topology !== 'citus' && topology !== 'hosts'

const through = (topology) => {
  const more = ['--topology', topology]
  const names = ['exact', 'storm', ...(besieged(topology) ? ['siege'] : [])]
  const runs = [{ name: 'laws', seed: '', args: more }, ...names.flatMap((name) => seeded(name, more))]
  return runs.map((run) => ({ ...run, topology }))
}

const folder = 'node_modules/.long'
mkdirSync(folder, { recursive: true })
const whole = { name: 'whole', seed: '', topology: '', args: [] }
const long = ['siege', 'exact', 'storm', 'live']
const runs = topologies?.flatMap(through) ?? [
  whole,
  ...long.flatMap((name) => seeded(name, [], name === 'storm' ? '5' : minutes)),
]
const results = runs.map(({ name, seed, topology, args }) => {
  const log = openSync(`${folder}/${[name, topology, seed].filter(Boolean).join('-')}.log`, 'w')
  const began = performance.now()
  const { status } = spawnSync('npm', ['run', `test:${name}`, '--', ...args], { stdio: ['ignore', log, log] })
  closeSync(log)
  const result = {
    run: name,
    topology,
    seed,
    result: status === 0 ? 'clean' : 'FAILED',
    minutes: Math.round((performance.now() - began) / 6_000) / 10,
  }
  console.log(JSON.stringify(result))
  return result
})
console.table(results)
process.exitCode = results.every(({ result }) => result === 'clean') ? 0 : 1
