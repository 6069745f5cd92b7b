import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

const module = new URL('../../../dist/compiler/commands/small-heap.js', import.meta.url).href
const evaluator = new URL('../../../dist/runtime/engine/load.js', import.meta.url).href

const atStart = `
  import { getHeapSpaceStatistics } from 'node:v8'
  import { setImmediate } from 'node:timers/promises'
  import { keepHeapSmall, keepYoungSpaceSmall } from '${module}'
  keepYoungSpaceSmall()
  keepHeapSmall()
`

/** The memory of V8's young generation, in MB, of a process in which some objects survive for a while. */
const youngSpace = `
  let kept = []
  for (let round = 0; round < 400; round += 1) {
    for (let index = 0; index < 4_000; index += 1) kept.push({ index, of: [round] })
    if (kept.length > 40_000) kept = []
    await setImmediate()
  }
  const young = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')
  console.log(young.space_size / 1024 / 1024)
`

/** The heap after a thousand modules of 20 KB each, in MB. */
const modulesHeld = `
  const { evaluateModule } = await import('${evaluator}')
  const evaluateMany = (first, count) => {
    for (let index = first; index < first + count; index += 1)
      evaluateModule('module.exports = () => "' + String(index).repeat(20_000 / String(index).length) + '"', 'm' + index)
  }
  evaluateMany(0, 100)
  gc()
  const before = process.memoryUsage().heapUsed
  evaluateMany(100, 1_000)
  gc()
  console.log((process.memoryUsage().heapUsed - before) / 1e6)
`

const megabytesOf = async (script: string, ...flags: readonly string[]): Promise<number> => {
  const args = [...flags, '--input-type=module', '--eval', atStart + script]
  const { stdout } = await promisify(execFile)(process.execPath, args, { env: {} })
  return Number(stdout)
}

it('the space for young objects is 16 MB beside a small heap, unless an option of Node sets it', async () => {
  expect(await megabytesOf(youngSpace)).toBe(16)
  expect(await megabytesOf(youngSpace, '--max-semi-space-size=16')).toBe(32)
})

it('a small heap holds no module that was evaluated and is used no more', async () => {
  expect(await megabytesOf(modulesHeld, '--expose-gc')).toBeLessThan(4)
})
