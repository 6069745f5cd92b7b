import { spawnSync } from 'node:child_process'
import { mkdirSync, openSync, closeSync } from 'node:fs'

/**
 * The long runs, one after the other, since the siege measures what honest callers wait for and nothing may run beside it:
 * node test/support/run-long.mjs [--minutes 20] [--seeds 1,2,3]
 * Ends with a table, and with 1 where one of them failed; what each wrote is in node_modules/.long.
 */
const options = new Map()
for (let index = 2; index < process.argv.length; index += 2) options.set(process.argv[index], process.argv[index + 1])
const minutes = options.get('--minutes') ?? '20'
const seeds = (options.get('--seeds') ?? [1, 2, 3].map(() => Math.floor(Math.random() * 1_000_000)).join(',')).split(
  ',',
)

const folder = 'node_modules/.long'
mkdirSync(folder, { recursive: true })
const runs = ['siege', 'exact', 'storm', 'live'].flatMap((name) => seeds.map((seed) => ({ name, seed })))
const results = runs.map(({ name, seed }) => {
  const log = openSync(`${folder}/${name}-${seed}.log`, 'w')
  const began = performance.now()
  const args = ['run', `test:${name}`, '--', '--minutes', name === 'storm' ? '5' : minutes, '--seed', seed]
  const { status } = spawnSync('npm', args, { stdio: ['ignore', log, log] })
  closeSync(log)
  const result = {
    run: name,
    seed,
    result: status === 0 ? 'clean' : 'FAILED',
    minutes: Math.round((performance.now() - began) / 6_000) / 10,
  }
  console.log(JSON.stringify(result))
  return result
})
console.table(results)
process.exitCode = results.every(({ result }) => result === 'clean') ? 0 : 1
