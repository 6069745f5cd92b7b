import { existsSync, openSync, readSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'

export interface Held {
  readonly answer: string
  /** Of all threads. */
  readonly cpuMs: number
  /** The most that the event loop computed at a stretch, so that nothing else could run. */
  readonly heldMs: number
}

/** The statistics of Linux about the thread of the event loop: first its CPU time in nanoseconds. */
const schedule = `/proc/self/task/${process.pid}/schedstat`

/** Milliseconds that the event loop has computed, whatever else the machine does; elsewhere than on Linux, those that passed. */
const openClock = (): (() => number) => {
  if (!existsSync(schedule)) return () => performance.now()
  const file = openSync(schedule, 'r')
  const line = Buffer.alloc(64)
  return () => Number.parseInt(line.toString('latin1', 0, readSync(file, line, 0, line.length, 0)), 10) / 1e6
}

const computedMs = openClock()

const tickMs = 1

/** Does something while a timer asks again and again how much was computed since it was let run. */
export const measureHold = async (work: () => Promise<string>): Promise<Held> => {
  globalThis.gc?.()
  await pause(20)
  return watchHold(work)
}

/** The same without tidying up before, which takes seconds where there is much. */
export const watchHold = async (work: () => Promise<string>): Promise<Held> => {
  let last = computedMs()
  let heldMs = 0
  const look = (): void => {
    const now = computedMs()
    heldMs = Math.max(heldMs, now - last)
    last = now
  }
  const timer = setInterval(look, tickMs)
  const started = process.cpuUsage()
  const answer = await work()
  const { user, system } = process.cpuUsage(started)
  look()
  clearInterval(timer)
  return { answer, cpuMs: (user + system) / 1_000, heldMs }
}
