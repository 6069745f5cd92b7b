import { randomUUID } from 'node:crypto'
import type { RunStatement } from '../../db/pool/statements.ts'
import { once } from '../../lib/caches.ts'
import { isLow, lockCaller, owesFactor, type AccountHolder, type AuthTools } from '../accounts/tools.ts'
import { json, type Outcome, type SessionCall } from '../call/call.ts'
import { refuse } from '../protocol/errors.ts'
import { pathId, isWeb } from '../protocol/input.ts'
import { audit } from '../store/audit-log.ts'
import {
  atAnotherInstant,
  insertChallenge,
  deleteAbandonedFactors,
  findFactor,
  insertFactor,
  listFactors,
  removeFactor,
  type FactorWithSecret,
} from '../store/factors.ts'
import type * as io from '../io/user.ts'
import type { FactorRow } from '../protocol/records.ts'

/** Loaded with the first second factor: a server starts without it. */
export const totp = once(() => import('../rules/totp.ts'))

/** Names are part of every user object. */
export const longestFactorName = 255
/** A longer one would not fit into the QR code. */
const longestIssuer = 64

interface Enrolment {
  readonly friendlyName: string | null
  readonly issuer: string
}

/** POST /factors (spec/auth.md 5.7). */
export async function enrolFactor(call: SessionCall<typeof io.enrolFactor>, { database }: AuthTools): Promise<Outcome> {
  const { friendlyName, issuer } = readEnrolment(call)
  const { newTotpSecret, qrCode, totpUri } = await totp()
  const [id, secret] = [randomUUID(), newTotpSecret()]
  await database.transaction(async (run) => {
    const [caller, , factors] = await Promise.all([
      lockCaller(run, call),
      deleteAbandonedFactors(run, call.user.id, friendlyName === null),
      listFactors(run, call.user.id),
    ])
    checkRoom(call, caller, factors, friendlyName)
    await Promise.all([
      insertFactor(run, { id, userId: call.user.id, friendlyName, secret }),
      noteFactor(run, call, 'factor_in_progress', id),
    ])
  })
  const uri = totpUri({ issuer, account: call.user.email ?? '' }, secret)
  return json({ id, type: 'totp', friendly_name: friendlyName ?? '', totp: { qr_code: qrCode(uri), secret, uri } })
}

function readEnrolment({ body, settings }: SessionCall<typeof io.enrolFactor>): Enrolment {
  const { factor_type: type, friendly_name: friendlyName = '', issuer = '' } = body
  if (type === 'phone') throw refuse('mfa_phone_enroll_not_enabled')
  if (type === 'webauthn') throw refuse('mfa_webauthn_enroll_not_enabled')
  if (type !== 'totp') throw refuse('validation_failed', 'factor_type needs to be totp, phone, or webauthn')
  if (!settings.mfa_totp_enabled) throw refuse('mfa_totp_enroll_not_enabled')
  checkLength('friendly_name', friendlyName, longestFactorName)
  checkLength('issuer', issuer, longestIssuer)
  return {
    friendlyName: friendlyName.trim() === '' ? null : friendlyName,
    issuer: issuer || nameOfSite(settings.site_url),
  }
}

/** Its host; for a custom scheme the scheme, because the host names a page there and not the application. */
function nameOfSite(siteUrl: string): string {
  const site = new URL(siteUrl)
  return isWeb(site) ? site.host : site.protocol.slice(0, -1)
}

/** Throws 400 `validation_failed`. */
export function checkLength(name: string, text: string, most: number): void {
  if (text.length <= most) return
  throw refuse('validation_failed', `${name} must be at most ${most} characters`)
}

function checkRoom(
  { settings }: SessionCall,
  caller: AccountHolder,
  factors: readonly FactorRow[],
  name: string | null,
): void {
  if (name !== null && factors.some(({ friendly_name }) => friendly_name === name)) {
    throw refuse('mfa_factor_name_conflict')
  }
  if (factors.length >= settings.mfa_max_factors) throw refuse('too_many_enrolled_mfa_factors')
  if (owesFactor(caller)) throw lowForEnrolment()
}

export const lowForEnrolment = () =>
  refuse('insufficient_aal', { status: 403, message: 'AAL2 required to enroll a new factor' })

/** POST /factors/{id}/challenge. */
export async function challengeFactor(call: SessionCall, { database }: AuthTools): Promise<Outcome> {
  const factor = await ownFactor(database.run, call)
  const id = randomUUID()
  const challenge = async (run: RunStatement): Promise<number> => {
    const [at] = await Promise.all([
      insertChallenge(run, { id, factorId: factor.id, address: call.client.address }),
      noteFactor(run, call, 'challenge_created', factor.id),
    ])
    if (at === null) throw refuse('mfa_factor_not_found')
    return at
  }
  const expiresAt = await atAnotherInstant(() => database.transaction(challenge))
  return json({ id, type: 'totp', expires_at: expiresAt })
}

/** DELETE /factors/{id}. The session's present row is checked too: it may have been lowered. */
export async function unenrolFactor(call: SessionCall, { database }: AuthTools): Promise<Outcome> {
  const { user } = call
  const id = pathId(call.params, 'factor_id')
  await database.transaction(async (run) => {
    const caller = await lockCaller(run, call)
    const factor = await findFactor(run, user.id, id)
    if (factor === null) throw refuse('mfa_factor_not_found')
    if (factor.status === 'verified' && isLow(caller.session)) {
      throw refuse('insufficient_aal', { status: 422, message: 'AAL2 required to unenroll verified factor' })
    }
    await removeFactor(run, user.id, id)
    await noteFactor(run, call, 'factor_unenrolled', id)
  })
  return json({ id })
}

export async function ownFactor(run: RunStatement, { user, params }: SessionCall): Promise<FactorWithSecret> {
  const factor = await findFactor(run, user.id, pathId(params, 'factor_id'))
  if (factor === null || factor.factor_type !== 'totp') throw refuse('mfa_factor_not_found')
  return factor
}

export async function noteFactor(
  run: RunStatement,
  { user, client }: SessionCall,
  action: 'factor_in_progress' | 'factor_unenrolled' | 'challenge_created' | 'verification_attempted',
  factorId: string,
): Promise<void> {
  await audit(run, { action, actor: user, address: client.address, traits: { factor_id: factorId } })
}
