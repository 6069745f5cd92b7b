import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { commandLine, isAlive, processIdentity, waitForEnd } from '../../../../runtime/db/embedded/processes.ts'

/** A parent that never asks how its child ended, and the child's number. */
async function childOfNeglect(): Promise<{ readonly child: number; readonly stop: () => void }> {
  const parent = spawn('sh', ['-c', 'sleep 600 & echo $!; exec sleep 600'], { stdio: ['ignore', 'pipe', 'ignore'] })
  const [line] = (await once(parent.stdout, 'data')) as [Buffer]
  // Until it is `sleep`, it is a shell, which would ask.
  await vi.waitFor(async () => expect(await commandLine(parent.pid ?? 0)).toMatch(/^sleep/))
  return { child: Number(line.toString()), stop: () => parent.kill('SIGKILL') }
}

describe.runIf(existsSync('/proc/self/stat'))('a process that was killed', () => {
  test('has ended, though its parent has not asked how', async () => {
    const { child, stop } = await childOfNeglect()
    onTestFinished(async () => {
      stop()
    })
    expect(isAlive(child)).toBe(true)
    expect(await processIdentity(child)).toMatch(new RegExp(`^${child} \\d+$`))
    process.kill(child, 'SIGKILL')
    expect(await waitForEnd(child, 5_000)).toBe(true)
    // Its number is still taken.
    expect(() => process.kill(child, 0)).not.toThrow()
    expect(await processIdentity(child)).toBeNull()
  })
})

test('this process lives, and no process has the number that none can have', async () => {
  expect(isAlive(process.pid)).toBe(true)
  expect(await processIdentity(2 ** 30)).toBeNull()
})
