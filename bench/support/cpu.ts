import { readdir, readFile } from 'node:fs/promises'

/**
 * CPU time of processes from /proc (Linux; elsewhere NaN). The scheduler's own account is taken, in nanoseconds; what
 * ended processes used is known to their parent in ticks of 10 ms only.
 */

const tickMicroseconds = 10_000

const textOf = (path: string): Promise<string> => readFile(path, 'utf8').catch(() => '')

/** The fields of /proc/PID/stat after the name, which may hold blanks itself: state is number 0, ppid 1. */
const statOf = async (pid: string): Promise<readonly string[]> => {
  const text = await textOf(`/proc/${pid}/stat`)
  return text.slice(text.lastIndexOf(')') + 2).split(' ')
}

/** A process and all that descend from it. */
const treeOf = async (root: number): Promise<readonly string[]> => {
  const pids = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name))
  const parents = new Map(await Promise.all(pids.map(async (pid) => [pid, (await statOf(pid))[1]] as const)))
  const descends = (pid: string | undefined): boolean =>
    pid !== undefined && (pid === String(root) || descends(parents.get(pid)))
  return pids.filter(descends)
}

const threadTime = async (pid: string): Promise<number> => {
  const threads = await readdir(`/proc/${pid}/task`).catch(() => [])
  const texts = await Promise.all(threads.map((thread) => textOf(`/proc/${pid}/task/${thread}/schedstat`)))
  return texts.reduce((sum, text) => sum + Number(text.split(' ')[0] ?? 0) / 1_000, 0)
}

/** cutime and cstime (proc(5), fields 16 and 17). */
const endedChildrenTime = async (pid: string): Promise<number> => {
  const fields = await statOf(pid)
  return (Number(fields[13] ?? 0) + Number(fields[14] ?? 0)) * tickMicroseconds
}

/** Microseconds that a process and its descendants, ended ones included, have used since they started. */
export const cpuTime = async (root: number): Promise<number> => {
  if (process.platform !== 'linux') return Number.NaN
  const tree = await treeOf(root)
  const times = await Promise.all(tree.flatMap((pid) => [threadTime(pid), endedChildrenTime(pid)]))
  return times.reduce((sum, time) => sum + time, 0)
}

/** Resident memory of one process in MB. */
export const residentMb = async (pid: number): Promise<number> => {
  const kilobytes = /^VmRSS:\s+(\d+)/m.exec(await textOf(`/proc/${pid}/status`))?.[1]
  return kilobytes === undefined ? Number.NaN : Number(kilobytes) / 1_024
}

/** What descends from a process, with how it was started. */
export const descendantsOf = async (root: number): Promise<readonly { pid: number; command: string }[]> => {
  const pids = (await treeOf(root)).filter((pid) => pid !== String(root))
  return Promise.all(pids.map(async (pid) => ({ pid: Number(pid), command: await textOf(`/proc/${pid}/cmdline`) })))
}

/** One process, or several that count together. */
export type Counted = number | readonly number[]

const timeOf = async (counted: Counted): Promise<number> => {
  const times = await Promise.all([counted].flat().map(cpuTime))
  return times.reduce((sum, time) => sum + time, 0)
}

/** What work cost each of the processes, in microseconds, and what it gave. */
export const withCpu = async <T, K extends string>(
  processes: Readonly<Record<K, Counted>>,
  work: () => Promise<T>,
): Promise<{ readonly value: T; readonly cpu: Readonly<Record<K, number>> }> => {
  const names = Object.keys(processes) as K[]
  const times = (): Promise<number[]> => Promise.all(names.map((name) => timeOf(processes[name])))
  const before = await times()
  const value = await work()
  const after = await times()
  const cpu = names.map((name, index) => [name, (after[index] ?? 0) - (before[index] ?? 0)] as const)
  return { value, cpu: Object.fromEntries(cpu) as Record<K, number> }
}

/** Microseconds that the main thread of a process has used: what its event loop did, without the pool of threads. */
export const mainThreadTime = async (pid: number): Promise<number> => {
  const [time] = (await textOf(`/proc/${pid}/task/${pid}/schedstat`)).split(' ')
  return time ? Number(time) / 1_000 : Number.NaN
}
