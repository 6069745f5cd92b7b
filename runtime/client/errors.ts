/** Codes of the service (spec/auth.md 2.4). */
export type ServiceErrorCode =
  | 'anonymous_provider_disabled'
  | 'auth_not_enabled'
  | 'bad_code_verifier'
  | 'bad_json'
  | 'bad_jwt'
  | 'bad_oauth_callback'
  | 'bad_oauth_state'
  | 'conflict'
  | 'current_password_invalid'
  | 'current_password_required'
  | 'email_conflict_identity_not_deletable'
  | 'email_exists'
  | 'email_not_confirmed'
  | 'email_provider_disabled'
  | 'flow_state_already_used'
  | 'flow_state_expired'
  | 'flow_state_not_found'
  | 'identity_already_exists'
  | 'identity_not_found'
  | 'insufficient_aal'
  | 'invalid_credentials'
  | 'manual_linking_disabled'
  | 'metadata_too_large'
  | 'method_not_allowed'
  | 'mfa_challenge_expired'
  | 'mfa_factor_name_conflict'
  | 'mfa_factor_not_found'
  | 'mfa_ip_address_mismatch'
  | 'mfa_phone_enroll_not_enabled'
  | 'mfa_totp_enroll_not_enabled'
  | 'mfa_totp_verify_not_enabled'
  | 'mfa_verification_failed'
  | 'mfa_verification_rejected'
  | 'mfa_recovery_codes_enroll_not_enabled'
  | 'mfa_recovery_codes_verify_not_enabled'
  | 'mfa_webauthn_enroll_not_enabled'
  | 'no_authorization'
  | 'not_admin'
  | 'not_found'
  | 'otp_disabled'
  | 'otp_expired'
  | 'over_email_send_rate_limit'
  | 'over_request_rate_limit'
  | 'overloaded'
  | 'phone_provider_disabled'
  | 'provider_disabled'
  | 'provider_email_needs_verification'
  | 'reauthentication_needed'
  | 'reauthentication_not_valid'
  | 'refresh_token_already_used'
  | 'refresh_token_not_found'
  | 'request_entity_too_large'
  | 'request_headers_too_large'
  | 'request_timeout'
  | 'same_password'
  | 'saml_provider_disabled'
  | 'session_expired'
  | 'session_not_found'
  | 'signup_disabled'
  | 'single_identity_not_deletable'
  | 'too_many_enrolled_mfa_factors'
  | 'unavailable'
  | 'unexpected_failure'
  | 'user_already_exists'
  | 'user_banned'
  | 'user_not_found'
  | 'validation_failed'
  | 'weak_password'
  | 'web3_provider_disabled'

/** Codes of the library itself. */
export type ClientErrorCode =
  /** No answer: offline, refused, aborted, timed out, or forbidden by the browser. */
  | 'network_failure'
  /** An answer not of the service: a proxy's page, a truncated text, an object of another form. */
  | 'bad_answer'
  /** There is no session. */
  | 'session_missing'
  /** Another browser began this sign-in, or it was too long ago. */
  | 'code_verifier_missing'
  /** The project key was not accepted. */
  | 'bad_api_key'

/** A newer service may have codes that are not listed. */
export type AuthErrorCode = ServiceErrorCode | ClientErrorCode | (string & {})

export interface AuthErrorDetails {
  /** HTTP status; 0 when there was no answer. */
  readonly status?: number
  /** The requirements that a `weak_password` misses: `length`, `characters`, `pwned`. */
  readonly reasons?: readonly string[]
  /** Seconds after which a retry may succeed. */
  readonly retryAfter?: number | null
  readonly cause?: unknown
}

export class AuthError extends Error {
  override readonly name = 'AuthError'
  readonly code: AuthErrorCode
  readonly status: number
  readonly reasons: readonly string[]
  readonly retryAfter: number | null

  constructor(code: AuthErrorCode, message: string, details: AuthErrorDetails = {}) {
    super(message, details.cause === undefined ? {} : { cause: details.cause })
    this.code = code
    this.status = details.status ?? 0
    this.reasons = details.reasons ?? []
    this.retryAfter = details.retryAfter ?? null
  }

  /** With the message, which JSON omits from errors. */
  toJSON(): object {
    return { ...this, message: this.message }
  }
}

export const sessionMissing = (): AuthError => new AuthError('session_missing', 'Nobody is signed in')

export function toAuthError(thrown: unknown): AuthError {
  if (thrown instanceof AuthError) return thrown
  const message = thrown instanceof Error ? thrown.message : String(thrown)
  return new AuthError('unexpected_failure', message, { cause: thrown })
}

/** Whether the failure is temporary: the same request may succeed later. */
export function isPassing({ code, status }: Pick<AuthError, 'code' | 'status'>): boolean {
  return code === 'network_failure' || code === 'bad_answer' || status >= 500 || passingStatuses.has(status)
}

const passingStatuses: ReadonlySet<number> = new Set([408, 409, 425, 429])

const verdicts: ReadonlySet<string> = new Set([
  'refresh_token_not_found',
  'refresh_token_already_used',
  'session_not_found',
  'session_expired',
  'user_not_found',
  'user_banned',
  'validation_failed',
  'invalid_request',
])

/**
 * The service has refused a refresh token (spec/auth.md 7). Only that ends a session: a limit, a wrong project key or a
 * proxy's refusal does not.
 */
export const isVerdict = ({ code, status }: AuthError): boolean => status < 500 && verdicts.has(code)
