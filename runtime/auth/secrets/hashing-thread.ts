import { readlinkSync } from 'node:fs'
import { constants, setPriority } from 'node:os'
import { basename } from 'node:path'
import { parentPort } from 'node:worker_threads'
import { judgeHash, makeHash } from './algorithms.ts'
import { ownThread, yields, type HashingAnswer, type HashingTask } from './hashing.ts'

/** The thread that hashes: one task at a time, each answered. An error ends it. */

/**
 * A tenth of the share of others under full load: at the lowest priority it would be a sixtieth, and a sign-in take
 * seconds. A thread may lower its own priority, for any user.
 */
const yieldToOthers = (): void =>
  setPriority(Number(basename(readlinkSync(ownThread))), constants.priority.PRIORITY_BELOW_NORMAL)

if (yields) yieldToOthers()

const performTask = (task: HashingTask): Promise<HashingAnswer> =>
  task.kind === 'hash' ? makeHash(task.password, task.cost) : judgeHash(task.password, task.stored, task.cost)

parentPort?.on('message', (task: HashingTask) => {
  void performTask(task).then((one) => parentPort?.postMessage(one))
})
