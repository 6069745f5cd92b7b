import { parentPort, workerData } from 'node:worker_threads'
import { makeNext, type SharedWork } from './together.ts'

/** The thread that makes documents beside the main one, and ends with them. */
parentPort?.postMessage(makeNext(workerData as SharedWork))
