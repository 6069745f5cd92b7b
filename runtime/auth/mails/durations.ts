import { randomInt } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { MailKind } from './kinds.ts'

/**
 * The durations of the last mails of each kind, so that calls without a mail can take as long (spec/auth.md, attack
 * 22).
 */
export interface Durations {
  readonly note: (kind: MailKind, ms: number) => void
  /** Resolves when the time since `began` equals the duration of one of the last mails. */
  readonly wait: (kind: MailKind, began: number) => Promise<void>
}

const remembered = 64
/** Before the first mail of a process. */
const firstMs = 12

export function createDurations(): Durations {
  const known = new Map<MailKind, number[]>()
  const pick = (kind: MailKind): number => {
    const list = known.get(kind) ?? []
    return list.length === 0 ? firstMs : (list[randomInt(list.length)] ?? firstMs)
  }
  return {
    note: (kind, ms) => {
      const list = known.get(kind) ?? []
      known.set(kind, [...list, ms].slice(-remembered))
    },
    wait: async (kind, began) => {
      const left = began + pick(kind) - performance.now()
      if (left > 0) await sleep(left)
    },
  }
}
