import type { AuthSettings } from '../settings/setting-keys.ts'

/** The facts about a refresh token while its session and itself are locked (spec/auth.md 7). */
export interface RefreshFacts {
  readonly revoked: boolean
  /** Since it was revoked or last changed, by the database's clock. */
  readonly revokedSecondsAgo: number
  /** It was issued before the session was raised to aal2. */
  readonly beforeUpgrade: boolean
  /** It was issued twice itself, and its access token was never seen. */
  readonly unseen: boolean
  /** The exchangeable token of its session; null: none. */
  readonly live: LiveToken | null
}

export interface LiveToken {
  readonly token: string
  readonly isChild: boolean
  /** An access token issued with it was seen: its holder has the answer. */
  readonly isUsed: boolean
}

export type RefreshVerdict =
  /** It is spent, and replaced by another. */
  | { readonly kind: 'rotate' }
  /** Another tab was faster, or the client `lost` our answer: it gets the existing live token. */
  | { readonly kind: 'replay'; readonly token: string; readonly lost: boolean }
  /** Refused without further effect: a harmless tab may have raced with the upgrade. */
  | { readonly kind: 'refuse' }
  /** Theft: the session ends. */
  | { readonly kind: 'end-session' }

/** Decides about a refresh token (spec/auth.md 7, algorithm; RFC 9700 section 4.14.2). */
export function judgeRefresh(facts: RefreshFacts, reuseInterval: number): RefreshVerdict {
  const lately = facts.revokedSecondsAgo < reuseInterval
  // A token of a lower level must never yield one of a higher.
  if (facts.beforeUpgrade) return { kind: lately || !facts.revoked ? 'refuse' : 'end-session' }
  if (!facts.revoked) return { kind: 'rotate' }
  if (facts.live === null || !(lately || mayBeLost(facts.live, facts.unseen))) return { kind: 'end-session' }
  return { kind: 'replay', token: facts.live.token, lost: !lately }
}

/**
 * Whether our answer to the parent of the live token may have been lost. Not once the live token was used. Nor twice in
 * a row without any use between: that looks like two holders who refresh in turn.
 */
const mayBeLost = ({ isChild, isUsed }: LiveToken, unseen: boolean): boolean => isChild && !isUsed && !unseen

/** Ages of a session and the owner's limits, in seconds (spec/auth.md 1). */
export interface SessionAge {
  /** Since its sign-in. */
  readonly age: number
  /** Since it was last refreshed, or signed in. */
  readonly idle: number
  /** Its own limit has passed. */
  readonly past: boolean
  readonly hasNewer: boolean
}

export type SessionLimits = Pick<AuthSettings, 'session_timebox' | 'session_inactivity' | 'session_single_per_user'>

export type SessionFault = 'timebox' | 'inactivity' | 'superseded'

/** Why a session must end, or null. */
export function judgeSession(session: SessionAge, limits: SessionLimits): SessionFault | null {
  if (session.past) return 'timebox'
  if (limits.session_timebox !== null && session.age >= limits.session_timebox) return 'timebox'
  if (limits.session_inactivity !== null && session.idle >= limits.session_inactivity) return 'inactivity'
  return limits.session_single_per_user && session.hasNewer ? 'superseded' : null
}
