import { readdirSync, readFileSync } from 'node:fs'

/**
 * CPU time of processes from /proc (Linux; elsewhere NaN). The scheduler's own account is taken, in nanoseconds; what
 * ended processes used is known to their parent in ticks of 10 ms only. These files are made as they are read, so that
 * waiting for them in other threads would cost more than reading.
 */

const tickMicroseconds = 10_000

const textOf = (path: string): string => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

const threadsOf = (pid: string): readonly string[] => {
  try {
    return readdirSync(`/proc/${pid}/task`).map((thread) => `/proc/${pid}/task/${thread}`)
  } catch {
    return []
  }
}

/** A process and all that descend from it: each thread knows the processes that it started (proc(5), children). */
const treeOf = (root: string): readonly string[] => {
  const children = threadsOf(root).flatMap((thread) => textOf(`${thread}/children`).split(' ').filter(Boolean))
  return [root, ...children.flatMap(treeOf)]
}

const threadTime = (pid: string): number =>
  threadsOf(pid).reduce((sum, thread) => sum + Number(textOf(`${thread}/schedstat`).split(' ')[0] ?? 0) / 1_000, 0)

/** cutime and cstime (proc(5), fields 16 and 17), counted after the name, which may hold blanks itself. */
const endedChildrenTime = (pid: string): number => {
  const text = textOf(`/proc/${pid}/stat`)
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[13] ?? 0) + Number(fields[14] ?? 0)) * tickMicroseconds
}

/** Microseconds that a process and its descendants, ended ones included, have used since they started. */
export const cpuTime = (root: number): number => {
  if (process.platform !== 'linux') return Number.NaN
  return treeOf(String(root)).reduce((sum, pid) => sum + threadTime(pid) + endedChildrenTime(pid), 0)
}

/** Resident memory of one process in MB. */
export const residentMb = (pid: number): number => {
  const kilobytes = /^VmRSS:\s+(\d+)/m.exec(textOf(`/proc/${pid}/status`))?.[1]
  return kilobytes === undefined ? Number.NaN : Number(kilobytes) / 1_024
}

/** What descends from a process, with how it was started. */
export const descendantsOf = (root: number): readonly { pid: number; command: string }[] =>
  treeOf(String(root))
    .slice(1)
    .map((pid) => ({ pid: Number(pid), command: textOf(`/proc/${pid}/cmdline`) }))

/** One process, or several that count together. */
export type Counted = number | readonly number[]

const timeOf = (counted: Counted): number => [counted].flat().reduce((sum, root) => sum + cpuTime(root), 0)

/** What work cost each of the processes, in microseconds, and what it gave. */
export const withCpu = async <T, K extends string>(
  processes: Readonly<Record<K, Counted>>,
  work: () => Promise<T>,
): Promise<{ readonly value: T; readonly cpu: Readonly<Record<K, number>> }> => {
  const names = Object.keys(processes) as K[]
  const times = (): number[] => names.map((name) => timeOf(processes[name]))
  const before = times()
  const value = await work()
  const after = times()
  const cpu = names.map((name, index) => [name, (after[index] ?? 0) - (before[index] ?? 0)] as const)
  return { value, cpu: Object.fromEntries(cpu) as Record<K, number> }
}

/** Microseconds that the main thread of a process has used: what its event loop did, without the pool of threads. */
export const mainThreadTime = (pid: number): number => {
  const [time] = textOf(`/proc/${pid}/task/${pid}/schedstat`).split(' ')
  return time ? Number(time) / 1_000 : Number.NaN
}
