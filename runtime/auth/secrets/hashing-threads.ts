import { Worker } from 'node:worker_threads'
import { builtModule } from '../../lib/built-module.ts'
import type { HashingAnswer, HashingTask } from './hashing.ts'

/** Threads that hash, as many as tasks run at a time: each started when it is needed, and ended when it is not for a while. */
export interface HashingThreads {
  /** Rejects when the thread ends over it, which then answers nothing else. */
  readonly run: (task: HashingTask) => Promise<HashingAnswer>
}

/** A thread takes some 10 MB, and 30 ms to start. */
const usualIdleMs = 60_000

interface Idle {
  readonly worker: Worker
  readonly ending: NodeJS.Timeout
}

export function createHashingThreads(idleMs = usualIdleMs): HashingThreads {
  const idle: Idle[] = []
  const forget = (worker: Worker): void => {
    const at = idle.findIndex((one) => one.worker === worker)
    if (at !== -1) clearTimeout(idle.splice(at, 1)[0]?.ending)
  }
  const start = (): Worker => {
    const worker = new Worker(builtModule(import.meta.url, 'runtime/auth/secrets/hashing-thread.js'), { execArgv: [] })
    return worker.on('error', () => forget(worker)).on('exit', () => forget(worker))
  }
  /** The one that rested last: the others have their time. */
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
      const answer = await exchange(worker, task)
      rest(worker)
      return answer
    },
  }
}

function exchange(worker: Worker, task: HashingTask): Promise<HashingAnswer> {
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
