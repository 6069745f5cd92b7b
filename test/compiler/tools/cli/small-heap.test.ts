import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

const module = new URL('../../../../dist/compiler/tools/cli/small-heap.js', import.meta.url).href

/** What V8 took for young objects, in MB, of a process of which some objects stay for a while. */
const script = `
  import { getHeapSpaceStatistics } from 'node:v8'
  import { setImmediate } from 'node:timers/promises'
  import { keepHeapSmall, keepYoungSpaceSmall } from '${module}'
  keepYoungSpaceSmall()
  keepHeapSmall()
  let kept = []
  for (let round = 0; round < 400; round += 1) {
    for (let index = 0; index < 4_000; index += 1) kept.push({ index, of: [round] })
    if (kept.length > 40_000) kept = []
    await setImmediate()
  }
  const young = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')
  console.log(young.space_size / 1024 / 1024)
`

const youngMegabytes = async (...flags: readonly string[]): Promise<number> => {
  const args = [...flags, '--input-type=module', '--eval', script]
  const { stdout } = await promisify(execFile)(process.execPath, args, { env: {} })
  return Number(stdout)
}

it('keeps the space for young objects at 16 MB beside a small heap, unless Node was told about it', async () => {
  expect(await youngMegabytes()).toBe(16)
  expect(await youngMegabytes('--max-semi-space-size=16')).toBe(32)
})
