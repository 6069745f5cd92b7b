/** Refusals of auth (spec/auth.md 2.4). The code is stable; for a code with several sentences the caller gives one. */

interface ErrorRow {
  readonly status: number
  readonly message: string
}

export const authErrors = {
  anonymous_provider_disabled: { status: 422, message: 'Anonymous sign-ins are disabled' },
  auth_not_enabled: {
    status: 503,
    message: 'Auth is not enabled for this project. Its owner enables it with: catalograph auth enable',
  },
  bad_code_verifier: { status: 400, message: 'code challenge does not match previously saved code verifier' },
  bad_json: { status: 400, message: 'Could not parse request body as JSON: it is malformed' },
  bad_jwt: { status: 403, message: 'invalid JWT: unable to parse or verify signature, token is malformed' },
  bad_oauth_callback: { status: 400, message: 'OAuth state parameter missing' },
  bad_oauth_state: { status: 400, message: 'OAuth state parameter is invalid' },
  conflict: { status: 409, message: 'Too many concurrent token refresh requests on the same session or refresh token' },
  current_password_invalid: { status: 400, message: 'Current password required when setting new password.' },
  current_password_required: { status: 400, message: 'Current password required when setting new password.' },
  email_conflict_identity_not_deletable: {
    status: 422,
    message: 'The address of the identity belongs to another account',
  },
  email_exists: { status: 422, message: 'A user with this email address has already been registered' },
  email_not_confirmed: { status: 400, message: 'Email not confirmed' },
  email_provider_disabled: { status: 400, message: 'Email signups are disabled' },
  flow_state_already_used: { status: 400, message: 'State has already been used' },
  flow_state_expired: { status: 422, message: 'invalid flow state, flow state has expired' },
  flow_state_not_found: { status: 404, message: 'invalid flow state, no valid flow state found' },
  identity_already_exists: { status: 422, message: 'Identity is already linked' },
  identity_not_found: { status: 422, message: "Identity doesn't exist" },
  insufficient_aal: {
    status: 401,
    message: 'AAL2 session is required to update email or password when MFA is enabled.',
  },
  invalid_credentials: { status: 400, message: 'Invalid login credentials' },
  manual_linking_disabled: { status: 404, message: 'Manual linking is disabled' },
  mfa_challenge_expired: { status: 422, message: 'MFA challenge has expired, verify against another one' },
  mfa_factor_name_conflict: { status: 422, message: 'A factor with this friendly name exists already' },
  mfa_factor_not_found: { status: 404, message: 'Factor not found' },
  mfa_ip_address_mismatch: { status: 422, message: 'Challenge and verify IP addresses mismatch.' },
  mfa_phone_enroll_not_enabled: { status: 422, message: 'MFA enroll is disabled for Phone' },
  mfa_totp_enroll_not_enabled: { status: 422, message: 'MFA enroll is disabled for TOTP' },
  mfa_totp_verify_not_enabled: { status: 422, message: 'MFA verification is disabled for TOTP' },
  mfa_verification_failed: { status: 422, message: 'Invalid TOTP code entered' },
  mfa_verification_rejected: { status: 422, message: 'This TOTP code was used already; wait for the next one' },
  mfa_recovery_codes_enroll_not_enabled: { status: 422, message: 'MFA enroll is disabled for recovery codes' },
  mfa_recovery_codes_verify_not_enabled: { status: 422, message: 'MFA verification is disabled for recovery codes' },
  mfa_webauthn_enroll_not_enabled: { status: 422, message: 'MFA enroll is disabled for WebAuthn' },
  metadata_too_large: { status: 422, message: 'The metadata of the user is too large for a token' },
  method_not_allowed: { status: 405, message: 'This address does not answer the method' },
  no_authorization: { status: 401, message: 'This endpoint requires a valid Bearer token' },
  not_admin: { status: 403, message: 'User not allowed' },
  not_found: { status: 404, message: 'There is nothing at this address' },
  otp_disabled: { status: 422, message: 'Signups not allowed for otp' },
  otp_expired: { status: 403, message: 'Token has expired or is invalid' },
  over_email_send_rate_limit: { status: 429, message: 'email rate limit exceeded' },
  over_request_rate_limit: { status: 429, message: 'Request rate limit reached' },
  overloaded: { status: 503, message: 'Too many sign-ins at once; try again shortly' },
  phone_provider_disabled: { status: 400, message: 'Phone signups are disabled' },
  provider_disabled: { status: 400, message: 'Provider is not enabled' },
  provider_email_needs_verification: {
    status: 422,
    message: 'The address at the provider is not verified; a confirmation mail was sent to it',
  },
  reauthentication_needed: { status: 400, message: 'Password update requires reauthentication' },
  reauthentication_not_valid: { status: 422, message: 'Nonce has expired or is invalid' },
  refresh_token_already_used: { status: 400, message: 'Invalid Refresh Token: Already Used' },
  refresh_token_not_found: { status: 400, message: 'Invalid Refresh Token: Refresh Token Not Found' },
  request_entity_too_large: { status: 413, message: 'The request body is too large' },
  request_headers_too_large: { status: 431, message: 'The headers of the request are too large' },
  request_timeout: { status: 504, message: 'The request took too long; try again' },
  same_password: { status: 422, message: 'New password should be different from the old password.' },
  saml_provider_disabled: { status: 404, message: 'SAML 2.0 is disabled' },
  session_expired: { status: 403, message: 'Session is no longer valid' },
  session_not_found: { status: 403, message: 'Session from session_id claim in JWT does not exist' },
  signup_disabled: { status: 422, message: 'Signups not allowed for this instance' },
  single_identity_not_deletable: { status: 422, message: 'User must have at least 1 identity after unlinking' },
  too_many_enrolled_mfa_factors: {
    status: 422,
    message: 'Maximum number of verified factors reached, unenroll to continue',
  },
  unavailable: { status: 503, message: 'The service is not available at the moment; try again shortly' },
  unexpected_failure: { status: 500, message: 'Something went wrong on our side' },
  user_already_exists: { status: 422, message: 'User already registered' },
  user_banned: { status: 403, message: 'User is banned' },
  user_not_found: { status: 403, message: 'User from sub claim in JWT does not exist' },
  validation_failed: { status: 400, message: 'The request is not valid' },
  weak_password: { status: 422, message: 'The password is too weak' },
  web3_provider_disabled: { status: 422, message: 'Web3 provider is disabled' },
} as const satisfies Readonly<Record<string, ErrorRow>>

export type AuthErrorCode = keyof typeof authErrors

/** Differences from the code's row. */
export interface RefusalDetails {
  readonly message?: string
  readonly status?: number
  readonly weakReasons?: readonly string[]
  /** Seconds after which a retry may succeed. */
  readonly retryAfter?: number
  /** A limit refused an attempt, which still counts towards blocking the source address (spec/auth.md 10). */
  readonly isAttempt?: true
  /** For the log, never for the client. */
  readonly cause?: unknown
}

/** Seconds before a retry, if no better value is known (spec/auth.md 2.4 and 10). */
const usualRetryAfter: ReadonlyMap<number, number> = new Map([
  [429, 60],
  [503, 1],
])

/** A refusal on its way to the boundary that answers it. */
export class AuthFailure extends Error {
  override readonly name = 'AuthFailure'
  readonly code: AuthErrorCode
  readonly status: number
  readonly weakReasons: readonly string[] | null
  readonly retryAfter: number | null
  readonly isAttempt: boolean

  constructor(code: AuthErrorCode, details: RefusalDetails) {
    super(details.message ?? authErrors[code].message, { cause: details.cause })
    this.code = code
    this.status = details.status ?? authErrors[code].status
    this.weakReasons = details.weakReasons ?? null
    this.retryAfter = details.retryAfter ?? usualRetryAfter.get(this.status) ?? null
    this.isAttempt = details.isAttempt === true
  }
}

/** A refusal with the table's sentence, with another, or with other details; throw it. */
export function refuse(code: AuthErrorCode, details: string | RefusalDetails = {}): AuthFailure {
  return new AuthFailure(code, typeof details === 'string' ? { message: details } : details)
}

/** A refusal as a value, for cases in which the transaction must be committed. */
export const refused = (failure: AuthFailure) => ({ kind: 'refused', failure }) as const

/** The form of OAuth's own refusals (RFC 6749 section 5.2): the same for every version of the API. */
export class OauthFailure extends Error {
  override readonly name = 'OauthFailure'
  readonly error: string

  constructor(error: string, description: string) {
    super(description)
    this.error = error
  }
}

export type ApiVersion = 'initial' | '2024-01-01'

/** The body of a refusal (spec/auth.md 2.4). */
export function errorBody(failure: AuthFailure, version: ApiVersion, requestId: string): object {
  const { code, status, message, weakReasons } = failure
  const weak = weakReasons === null ? {} : { weak_password: { reasons: weakReasons } }
  if (version === '2024-01-01') return { code, message, ...weak }
  return { code: status, error_code: code, msg: message, ...weak, ...(status >= 500 && { error_id: requestId }) }
}
