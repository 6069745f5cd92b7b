import { existsSync } from 'node:fs'

export type HashingTask =
  | { readonly kind: 'hash'; readonly password: string; readonly cost: number }
  | { readonly kind: 'compare'; readonly password: string; readonly stored: string | null; readonly cost: number }

/** Whether a password is right; `outdated`: it is, and its hash should be replaced now that the password is known. */
export type HashVerdict = 'wrong' | 'right' | 'outdated'

export type HashingAnswer = string

/** Linux names the current thread (proc(5)), and gives each thread its own priority (setpriority(2)). */
export const ownThread = '/proc/thread-self'

/** Whether hashing can yield to other work, so that it may use all cores. */
export const yields = existsSync(ownThread)
