import { identities, users } from './account-tables.ts'
import { auditLogEntries, flowState, instances, schemaMigrations } from './other-tables.ts'
import { mfaAmrClaims, mfaChallenges, mfaFactors, oneTimeTokens, refreshTokens, sessions } from './session-tables.ts'
import type { TableDefinition } from './table.ts'

/**
 * Tables, columns, types and order of schema `auth` (spec/auth.md 13), as in supabase/auth: a dump of an existing
 * project's data can be restored into them with COPY.
 */

/** In creation order: referenced tables first. */
export const authTables: readonly TableDefinition[] = [
  users,
  identities,
  sessions,
  refreshTokens,
  mfaFactors,
  mfaChallenges,
  mfaAmrClaims,
  oneTimeTokens,
  flowState,
  auditLogEntries,
  schemaMigrations,
  instances,
]

/** Enumerated types with their labels. */
export const authEnums: Readonly<Record<string, readonly string[]>> = {
  aal_level: ['aal1', 'aal2', 'aal3'],
  code_challenge_method: ['s256', 'plain'],
  factor_status: ['unverified', 'verified'],
  factor_type: ['totp', 'webauthn', 'phone'],
  one_time_token_type: [
    'confirmation_token',
    'reauthentication_token',
    'recovery_token',
    'email_change_token_new',
    'email_change_token_current',
    'phone_change_token',
  ],
}
