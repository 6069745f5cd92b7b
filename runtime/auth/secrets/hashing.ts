import { existsSync } from 'node:fs'

/** What is asked of a thread that hashes. */
export type HashingTask =
  | { readonly kind: 'hash'; readonly password: string; readonly cost: number }
  | { readonly kind: 'compare'; readonly password: string; readonly stored: string | null; readonly cost: number }

/** Whether a password fits; `outdated`: it does, and its hash should be replaced now that the password is known. */
export type HashVerdict = 'wrong' | 'right' | 'outdated'

/** The hash, or a HashVerdict. */
export type HashingAnswer = string

/** Linux names the thread that looks (proc(5)), and gives each thread a priority of its own (setpriority(2)). */
export const ownThread = '/proc/thread-self'

/** Whether hashing can yield to all else, so that no core has to be kept free of it. */
export const yields = existsSync(ownThread)
