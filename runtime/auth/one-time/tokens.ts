import type { RunStatement } from '../../db/statements.ts'
import { equalTexts } from '../rules/pkce.ts'
import { reserveGuess } from '../store/codes.ts'
import type { Slot } from '../store/one-time-tokens.ts'
import { importedToken, linkKey, linkToken, newCode, newSalt, pkcePrefix, withoutPrefix } from './link-token.ts'

/** A new code and the link's token, not stored yet: see putOneTimeToken. */
export interface IssuedToken {
  readonly slot: Slot
  readonly address: string
  readonly code: string
  /** With its prefix when the mail belongs to a PKCE flow. */
  readonly token: string
  readonly salt: Buffer
}

export interface CodeAttempt {
  readonly userId: string
  readonly slot: Slot
  /** The address that the code went to. */
  readonly address: string
  readonly code: string
  /** Life of a code in seconds. */
  readonly lifetime: number
}

export interface OneTimeTokens {
  readonly issue: (slot: Slot, address: string, flow: 'pkce' | 'implicit') => IssuedToken
  /**
   * Whether a typed code is the one that was mailed, and not too old: then the token that stands for it in the slot, by
   * which whoever spends it finds it in one statement; else null. Costs one of the code's five guesses, also when the
   * call fails later: `run` must not be a transaction's.
   */
  readonly check: (run: RunStatement, attempt: CodeAttempt) => Promise<string | null>
}

/** Issues one token for each mailbox, however often it is asked: for work of mails, which may be done twice. */
export function steadyTokens({ issue }: OneTimeTokens): Pick<OneTimeTokens, 'issue'> {
  const issued = new Map<string, IssuedToken>()
  return {
    issue: (slot, address, flow) => {
      const key = `${slot} ${flow} ${address}`
      const token = issued.get(key) ?? issue(slot, address, flow)
      issued.set(key, token)
      return token
    },
  }
}

export function createOneTimeTokens(projectSecret: string): OneTimeTokens {
  const key = linkKey(projectSecret)
  return {
    issue: (slot, address, flow) => {
      const [code, salt] = [newCode(), newSalt()]
      const token = linkToken(key, { purpose: slot, address, code, salt })
      return { slot, address, code, salt, token: flow === 'pkce' ? pkcePrefix + token : token }
    },
    check: async (run, { userId, slot, address, code, lifetime }) => {
      const guess = await reserveGuess(run, userId, slot)
      if (guess === null) return null
      const { salt } = guess
      const isImported = salt.length === 0
      const expected = isImported
        ? importedToken(address, code)
        : linkToken(key, { purpose: slot, address, code, salt })
      const right = equalTexts(expected, withoutPrefix(guess.token))
      return right && guess.issued_seconds_ago <= lifetime ? guess.token : null
    },
  }
}
