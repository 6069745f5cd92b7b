import { availableParallelism } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { builtModule } from '../../lib/built-module.ts'
import type { Sharer } from '../../lib/sharing/places.ts'
import { createScheduler, QueueFull, type Scheduler } from '../../lib/sharing/scheduler.ts'
import { refuse } from '../protocol/errors.ts'
import { remainingMs, stepMs } from '../rules/credentials.ts'
import { usualCost } from './algorithms.ts'
import { yields, type HashVerdict, type HashingAnswer, type HashingTask } from './hashing.ts'

/**
 * Hashes passwords off the event loop, on all cores if it yields to other work; otherwise one core stays free. Tasks
 * that would wait longer than a request may last are refused: 503 with Retry-After.
 */
export interface Passwords {
  readonly hash: (password: string) => Promise<string>
  /** A hash that takes as long as a failed comparison, so that the time does not show whether an account is created. */
  readonly hashEvenly: (password: string) => Promise<string>
  /** The same for a comparison, also if the password is right. */
  readonly compareEvenly: (password: string, stored: string | null) => Promise<boolean>
  /** A wrong password's result comes after a constant time, whatever is stored, even nothing (spec/auth.md 12). */
  readonly judge: (password: string, stored: string | null) => Promise<HashVerdict>
  /** The same, as whether the password is right. */
  readonly compare: (password: string, stored: string | null) => Promise<boolean>
  readonly on: (call: Partial<HashingCall>) => Passwords
}

export interface HashingCall {
  /** Throws after the time limit of the call: hashes that still wait then are dropped. */
  readonly check: () => void
  /** Absent: our own hashes. */
  readonly sharer: Sharer | undefined
}

/** For each core, and for one party: at 50 to 80 ms a hash the last one waits for about five seconds. */
const usualWaiting = 80

/** Threads beyond the cores: one party uses all cores, and another's hash runs beside it without waiting. */
const spareThreads = yields ? 2 : 0

const usualCores = (processes: number): number =>
  Math.max(1, Math.floor((yields ? availableParallelism() : availableParallelism() - 1) / processes))

export interface HashingOptions {
  /** The number of processes of one service that share the cores. */
  readonly processes?: number
  readonly cores?: number
  /** The most that wait for each core, and for one party. */
  readonly waiting?: number
  /** Of bcrypt. */
  readonly cost?: number
  /** The stored kinds of hashes; absent: only our own. */
  readonly kinds?: () => Promise<readonly string[]>
}

export function createPasswords(options: HashingOptions = {}): Passwords {
  const { processes = 1, cores = usualCores(processes), waiting = usualWaiting, cost = usualCost } = options
  const scheduler = createScheduler({
    size: cores + spareThreads,
    queue: { each: waiting, all: (cores + 1) * waiting },
  })
  const { kinds = async () => [] } = options
  const pace: OwnPace = { quickestMs: null }
  const call: HashingCall = { check: () => undefined, sharer: undefined }
  return passwordsOf({ scheduler, threads: createHashingThreads(), cost, kinds, pace }, call)
}

/** The duration of our own hashes here. */
interface OwnPace {
  quickestMs: number | null
}

interface Hashing {
  readonly scheduler: Scheduler
  readonly threads: HashingThreads
  readonly cost: number
  readonly kinds: () => Promise<readonly string[]>
  readonly pace: OwnPace
}

interface Timed<T> {
  readonly value: T
  readonly began: number
}

function passwordsOf(hashing: Hashing, call: HashingCall): Passwords {
  const { scheduler, threads, cost, kinds, pace } = hashing
  const queued = async <T>(isOwn: boolean, work: () => Promise<T>): Promise<Timed<T>> => {
    try {
      return await scheduler.run(call.sharer, async () => {
        call.check()
        const began = performance.now()
        const value = await work()
        if (isOwn) pace.quickestMs = Math.min(pace.quickestMs ?? Infinity, performance.now() - began)
        return { value, began }
      })
    } catch (error) {
      if (error instanceof QueueFull) throw refuse('overloaded')
      throw error
    }
  }
  const makeHash = (password: string): Promise<Timed<string>> =>
    queued(true, async () => threads.run({ kind: 'hash', password, cost }))
  const compare = (password: string, stored: string | null): Promise<Timed<HashVerdict>> =>
    queued(stored === null, async () => (await threads.run({ kind: 'compare', password, stored, cost })) as HashVerdict)
  /** The wait costs nothing: the next task uses the thread. */
  const onTheStep = async (began: number): Promise<void> => {
    const step = stepMs({ kinds: await kinds(), cost, ...pace })
    await sleep(remainingMs(performance.now() - began, step))
  }
  const judge: Passwords['judge'] = async (password, stored) => {
    const { value, began } = await compare(password, stored)
    if (value === 'wrong') await onTheStep(began)
    return value
  }
  return {
    hash: async (password) => (await makeHash(password)).value,
    hashEvenly: async (password) => {
      const { value, began } = await makeHash(password)
      await onTheStep(began)
      return value
    },
    compareEvenly: async (password, stored) => {
      const { value, began } = await compare(password, stored)
      await onTheStep(began)
      return value !== 'wrong'
    },
    judge,
    compare: async (password, stored) => (await judge(password, stored)) !== 'wrong',
    on: (more) => passwordsOf(hashing, { ...call, ...more }),
  }
}

/** Hashing threads, one per concurrent task: each started on demand, and ended after a time of idleness. */
interface HashingThreads {
  /** Rejects if the thread ends during the task; it is not used again. */
  readonly run: (task: HashingTask) => Promise<HashingAnswer>
}

/** A thread takes some 10 MB, and 30 ms to start. */
const usualIdleMs = 60_000

export function createHashingThreads(idleMs = usualIdleMs): HashingThreads {
  const idle: { readonly worker: Worker; readonly ending: NodeJS.Timeout }[] = []
  const forget = (worker: Worker): void => {
    const at = idle.findIndex((one) => one.worker === worker)
    if (at !== -1) clearTimeout(idle.splice(at, 1)[0]?.ending)
  }
  const start = (): Worker => {
    const worker = new Worker(builtModule(import.meta.url, 'runtime/auth/secrets/hashing-thread.js'), { execArgv: [] })
    return worker.on('error', () => forget(worker)).on('exit', () => forget(worker))
  }
  /** The most recently used one, so that others can become idle. */
  const take = (): Worker => {
    const found = idle.pop()
    if (found === undefined) return start()
    clearTimeout(found.ending)
    found.worker.ref()
    return found.worker
  }
  /** A thread without a task does not keep the process alive. */
  const rest = (worker: Worker): void => {
    worker.unref()
    const end = (): void => {
      forget(worker)
      void worker.terminate()
    }
    idle.push({ worker, ending: setTimeout(end, idleMs).unref() })
  }
  return {
    run: async (task) => {
      const worker = take()
      const answer = await askThread(worker, task)
      rest(worker)
      return answer
    },
  }
}

function askThread(worker: Worker, task: HashingTask): Promise<HashingAnswer> {
  return new Promise((resolve, reject) => {
    const done = (): void => void worker.off('message', answered).off('error', failed).off('exit', ended)
    const answered = (answer: HashingAnswer): void => {
      done()
      resolve(answer)
    }
    const failed = (error: unknown): void => {
      done()
      reject(error instanceof Error ? error : new Error(String(error)))
    }
    const ended = (code: number): void => failed(new Error(`the thread that hashes ended with code ${code}`))
    worker.on('message', answered).on('error', failed).on('exit', ended)
    worker.postMessage(task)
  })
}
