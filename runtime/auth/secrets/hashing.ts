import { existsSync } from 'node:fs'

/** What is asked of a thread that hashes. */
export type HashingTask =
  | { readonly kind: 'hash'; readonly password: string; readonly cost: number }
  | { readonly kind: 'compare'; readonly password: string; readonly stored: string | null; readonly cost: number }

/** The hash, or whether the password fits. */
export type HashingAnswer = string | boolean

/** Linux names the thread that looks (proc(5)), and gives each thread a priority of its own (setpriority(2)). */
export const ownThread = '/proc/thread-self'

/** Whether hashing can yield to all else, so that no core has to be kept free of it. */
export const yields = existsSync(ownThread)
