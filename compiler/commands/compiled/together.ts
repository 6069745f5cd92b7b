import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import type { Revision } from '../../../runtime/contract/artifact.ts'
import { createEngine } from '../../additions/engine.ts'
import { builtModule } from '../../../runtime/lib/built-module.ts'
import type { DocumentTask } from './compile-documents.ts'
import { createDocumentMaker, type DocumentSource, type MadeDocument, type MakeDocument } from './make-document.ts'

/** Documents made by two threads, each of which takes the next free task. */

/** The data of another thread. */
export interface SharedWork {
  readonly revision: Revision
  readonly tasks: readonly { readonly document: DocumentSource; readonly roles: readonly string[] }[]
  readonly taken: Taken
}

const impossible = (): never => {
  throw new Error('every document that has to be made is a task')
}

/** The number of taken tasks, in shared memory. */
type Taken = Int32Array<SharedArrayBuffer>

/** By the indexes of the tasks. */
type MadeByPlace = ReadonlyMap<number, readonly MadeDocument[]>

/** Starting a thread takes as long as making so many documents. */
const worthAThread = 100

/** Equal to the main thread: a document that is nested too deeply there is so here. */
const stackMegabytes = 1

export const noneTaken = (): Taken => new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))

export function makeNext({ revision, tasks, taken }: SharedWork): MadeByPlace {
  const make = createDocumentMaker(createEngine(revision))
  const made = new Map<number, readonly MadeDocument[]>()
  for (;;) {
    const place = Atomics.add(taken, 0, 1)
    const task = tasks[place]
    if (task === undefined) return made
    made.set(place, make(task.document, task.roles))
  }
}

/** The same on another thread. */
export function makeApart({ revision, tasks, taken }: SharedWork): Promise<MadeByPlace> {
  const sent = tasks.map(({ document: { text, examples }, roles }) => ({ document: { text, examples }, roles }))
  const workerData: SharedWork = { revision, tasks: sent, taken }
  const module = builtModule(import.meta.url, 'compiler/commands/compiled/document-thread.js')
  const worker = new Worker(module, { workerData, execArgv: [], resourceLimits: { stackSizeMb: stackMegabytes } })
  return new Promise((resolve, reject) => {
    worker.on('message', resolve).on('error', reject)
    worker.on('exit', (code) => reject(new Error(`the thread that makes documents ended with code ${code}`)))
  })
}

/**
 * Begins to make the documents on another thread if there are many, and a free core. The returned function continues
 * with them, and resolves when all are made.
 */
export function makeTogether(revision: Revision, tasks: readonly DocumentTask[]): () => Promise<MakeDocument> {
  const work: SharedWork = { revision, tasks, taken: noneTaken() }
  const isShared = tasks.length >= worthAThread && availableParallelism() > 1
  const apart = isShared ? makeApart(work) : Promise.resolve<MadeByPlace>(new Map())
  // A caller that continues gets the rejection.
  apart.catch(() => undefined)
  return async () => {
    const here = makeNext(work)
    const made = [...here, ...(await apart)]
    const byDocument = new Map(made.map(([place, one]) => [tasks[place]?.document as DocumentSource | undefined, one]))
    return (document) => byDocument.get(document) ?? impossible()
  }
}
