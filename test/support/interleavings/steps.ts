import type { Draw } from '../../reference/questions/draw.ts'
import { mailedSlots, type MailedSlot } from './person.ts'

/** The steps of a person's clients; sessions by their index. */
export type Step =
  /** `latest` is what the client holds just then, `first` what it held at the start; others were spent long before. */
  | { readonly kind: 'refresh'; readonly session: number; readonly shows: Shown }
  | { readonly kind: 'look'; readonly session: number }
  | { readonly kind: 'sign-out'; readonly session: number; readonly scope: 'global' | 'local' | 'others' }
  /** Raises the session by the code of a time step. */
  | { readonly kind: 'step-up'; readonly session: number; readonly skew: -1 | 0 }
  /** The right code or link of the mail that the person had at first. */
  | { readonly kind: 'verify'; readonly slot: MailedSlot; readonly by: 'code' | 'link' }
  | { readonly kind: 'guess'; readonly slot: MailedSlot }
  /** Another mail in place of the one before. */
  | { readonly kind: 'recover' }

export type Shown = 'latest' | 'first' | 'parent' | 'old'

/** Tokens that were live when everything began, or later. */
export const isRecent = (shows: Shown): boolean => shows === 'latest' || shows === 'first'

export interface Plan {
  readonly sessions: number
  readonly tries: number
  /** The steps of each client, in order. */
  readonly clients: readonly (readonly Step[])[]
}

/** Most choices are of one session, so that clients meet. */
const drawSession = (draw: Draw, sessions: number): number => (draw.chance(30) ? draw.int(sessions) : 0)

type Make = (draw: Draw, sessions: number) => Step

const refresh: Make = (draw, sessions) => ({
  kind: 'refresh',
  session: drawSession(draw, sessions),
  shows: draw.pick(['latest', 'latest', 'latest', 'first', 'first', 'parent', 'old'] as const),
})
const look: Make = (draw, sessions) => ({ kind: 'look', session: drawSession(draw, sessions) })
const signOut: Make = (draw, sessions) => ({
  kind: 'sign-out',
  session: drawSession(draw, sessions),
  scope: draw.pick(['local', 'others', 'global'] as const),
})
const stepUp: Make = (draw, sessions) => ({
  kind: 'step-up',
  session: drawSession(draw, sessions),
  skew: draw.pick([0, -1] as const),
})
const verify: Make = (draw) => ({
  kind: 'verify',
  slot: draw.pick(mailedSlots),
  by: draw.pick(['code', 'link'] as const),
})
const guess: Make = (draw) => ({ kind: 'guess', slot: draw.pick(mailedSlots) })
const recover: Make = () => ({ kind: 'recover' })

/** Often what the issue is about, sometimes what comes in between. */
const makers: readonly Make[] = [
  refresh,
  refresh,
  refresh,
  refresh,
  look,
  signOut,
  stepUp,
  verify,
  verify,
  verify,
  guess,
  recover,
]

export function drawPlan(draw: Draw): Plan {
  const sessions = 1 + draw.int(3)
  const tries = draw.pick([0, 0, 3, 4, 5])
  // A few of the makers, so that one kind of race is run with all clients.
  const some = Array.from({ length: 1 + draw.int(3) }, () => draw.pick(makers))
  const steps = (): readonly Step[] => Array.from({ length: 1 + draw.int(2) }, () => draw.pick(some)(draw, sessions))
  return { sessions, tries, clients: Array.from({ length: 2 + draw.int(4) }, steps) }
}
