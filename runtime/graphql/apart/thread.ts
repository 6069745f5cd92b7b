import { setImmediate } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import type { Revision } from '../../contract/artifact.ts'
import type { Message, Question, Reply } from './messages.ts'
import { partsOf } from './parts.ts'

/** The reader thread for long work: started on demand, and ended after a time of idleness. */
export interface Thread<Asked = Question> {
  /** One question at a time. A thread that ends during a question is replaced for the next one. */
  readonly ask: (revision: Revision, question: Asked) => Promise<ThreadAnswer>
}

interface ThreadWork {
  readonly module: string
  /** The parts of a revision that it receives before the first question about it. */
  readonly parts: (revision: Revision) => Iterable<Message>
}

export type ThreadAnswer =
  | Reply
  /** The question exceeded the memory limit of the thread. */
  | { readonly kind: 'exhausted' }
  /** It exceeded the time limit of a question. */
  | { readonly kind: 'late' }

export interface ThreadLimits {
  readonly idleMs: number
  readonly longestMs: number
  readonly megabytes: number
}

/** The most expensive document of a megabyte, a list of 60,000 conditions, takes 400 MB. */
export const usualThreadLimits: ThreadLimits = { idleMs: 10_000, longestMs: 30_000, megabytes: 768 }

/** Equal to the main thread: a document that is nested too deeply there is so here. */
const stackMegabytes = 1

interface Running {
  readonly worker: Worker
  idle: NodeJS.Timeout | undefined
  /** The revision that it received last. */
  revision: string | null
}

/** Reads documents with their schema. */
export const createThread = (module: string, limits?: ThreadLimits): Thread =>
  createThreadFor({ module, parts: partsOf }, limits)

export function createThreadFor<Asked>(
  { module, parts }: ThreadWork,
  limits: ThreadLimits = usualThreadLimits,
): Thread<Asked> {
  let running: Running | null = null
  const end = (one: Running): void => {
    if (running === one) running = null
    clearTimeout(one.idle)
    void one.worker.terminate()
  }
  const start = (): Running => {
    const worker = new Worker(module, {
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: limits.megabytes, stackSizeMb: stackMegabytes },
    })
    const one: Running = { worker, idle: undefined, revision: null }
    // `exchange` reports it to the waiting requests.
    worker.on('error', () => end(one)).on('exit', () => end(one))
    return one
  }
  /** A thread without a question does not keep the process alive. */
  const rest = (one: Running): void => {
    one.worker.unref()
    one.idle = setTimeout(() => end(one), limits.idleMs).unref()
  }
  return {
    ask: async (revision, question) => {
      const one = (running ??= start())
      clearTimeout(one.idle)
      one.worker.ref()
      const answer = await exchange(one.worker, limits.longestMs, async () => {
        await sendRevision(one, revision, parts)
        one.worker.postMessage(question)
      })
      if (running === one) {
        if (answer.kind === 'late') end(one)
        else rest(one)
      }
      return answer
    },
  }
}

/** @param send rejects if the thread cannot receive */
function exchange(worker: Worker, longestMs: number, send: () => Promise<void>): Promise<ThreadAnswer> {
  return new Promise((resolve) => {
    const settle = (answer: ThreadAnswer): void => {
      clearTimeout(patience)
      worker.off('message', settle).off('error', failed).off('exit', ended)
      resolve(answer)
    }
    const failed = (error: NodeJS.ErrnoException): void =>
      settle(error.code === outOfMemory ? { kind: 'exhausted' } : { kind: 'failed', detail: error.stack ?? '' })
    const ended = (code: number): void => settle({ kind: 'failed', detail: `the thread ended with code ${code}` })
    const patience = setTimeout(() => settle({ kind: 'late' }), longestMs)
    worker.on('message', settle).on('error', failed).on('exit', ended)
    send().catch(failed)
  })
}

const outOfMemory = 'ERR_WORKER_OUT_OF_MEMORY'

async function sendRevision(one: Running, revision: Revision, parts: ThreadWork['parts']): Promise<void> {
  if (one.revision === revision.id) return
  one.revision = null
  for (const part of parts(revision)) {
    one.worker.postMessage(part)
    await setImmediate()
  }
  one.revision = revision.id
}
