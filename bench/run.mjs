/**
 * Builds the product and the benchmarks, then runs the named ones, each in a process of its own so that neither heap
 * nor compiled code of one reaches another: node bench/run.mjs translate serve [--json FILE --seconds 5 ...] Options go
 * to every one of them; the exit code is the first that is not 0.
 */
import { spawn } from 'node:child_process'
import { rm } from 'node:fs/promises'

const root = new URL('..', import.meta.url).pathname
const first = process.argv.findIndex((argument, index) => index > 1 && argument.startsWith('--'))
const names = process.argv.slice(2, first === -1 ? undefined : first)
const options = first === -1 ? [] : process.argv.slice(first)
if (names.length === 0) throw new Error('Which benchmark? node bench/run.mjs NAME... [options]')

let running = null
// The terminal signals both on Ctrl-C, other senders only this process; the child tidies up, and this process waits for
// it.
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => running?.kill(signal))

const run = (args) =>
  new Promise((resolve, reject) => {
    running = spawn(process.execPath, args, { cwd: root, stdio: 'inherit' })
    running.once('error', reject)
    running.once('exit', (code) => resolve(code ?? 1))
  })

const must = async (args) => {
  const code = await run(args)
  if (code !== 0) process.exit(code)
}

const tsc = 'node_modules/typescript/bin/tsc'
await rm(`${root}bench/dist`, { recursive: true, force: true })
if (!options.includes('--built')) {
  await must([tsc, '-p', 'tsconfig.json'])
  await must(['compiler/bundle.mjs'])
}
await must([tsc, '-p', 'bench/tsconfig.json'])
for (const name of names) await must(['--expose-gc', `bench/dist/bench/${name}.js`, ...options])
