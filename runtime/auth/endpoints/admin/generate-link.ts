import type { RunStatement } from '../../../db/pool/statements.ts'
import { refuseTakenAddress, savingUser } from '../../accounts/accounts.ts'
import {
  json,
  type AdminCall,
  type Outcome,
  destinationOf,
  checkedEmail,
  checkMetadataChange,
  checkNewMetadata,
  checkNewPassword,
} from '../../call/call.ts'
import { refuse } from '../../protocol/errors.ts'
import { mailVariables, type LinkType } from '../../mails/variables.ts'
import type { IssuedToken } from '../../secrets/one-time-tokens.ts'
import { emailAppMetadata, userJson } from '../../rules/user-json.ts'
import { markInvited } from '../../store/admin-users.ts'
import { beginChange } from '../../store/email-changes.ts'
import { clearOneTimeToken, putOneTimeToken, type TokenSlot } from '../../store/one-time-tokens.ts'
import { findUserByEmail, lockUser, mergeUserMetadata } from '../../store/users.ts'
import type { AuthTools } from '../../accounts/tools.ts'
import type * as io from '../../io/admin.ts'
import type { UserRow } from '../../protocol/records.ts'
import { awaitConfirmation, type AwaitedAccount } from './invite.ts'
import { auditAdmin, existingUser, noSuchUser } from './target-user.ts'
import type { JsonObject } from '../../../lib/json.ts'

/** The link types for administrators, and the type in the link (spec/auth.md 9.1 and 11). */
const linkTypes = {
  signup: 'signup',
  invite: 'invite',
  magiclink: 'magiclink',
  recovery: 'recovery',
  email_change_current: 'email_change',
  email_change_new: 'email_change',
} as const satisfies Readonly<Record<string, LinkType>>

type AdminLinkType = keyof typeof linkTypes

interface LinkRequest {
  readonly type: AdminLinkType
  readonly email: string
  readonly newEmail: string
  readonly password: string
  readonly data: JsonObject
  readonly destination: string
}

interface MadeLink {
  readonly user: UserRow
  readonly issued: IssuedToken
}

/** POST /admin/generate_link: the content of a mail, without the mail. */
export async function generateLink(call: AdminCall<typeof io.generateLink>, tools: AuthTools): Promise<Outcome> {
  const asked = readLinkRequest(call)
  const known = await findUserByEmail(tools.database.run, asked.email)
  if (known === null && (asked.type === 'recovery' || isEmailChange(asked.type))) throw noSuchUser(unknownEmail)
  // An unknown user is signed up by a magic link.
  const request = known === null && asked.type === 'magiclink' ? signUpInstead(asked) : asked
  const made = await savingUser(() => make(call, tools, request, known)).catch(refuseTakenAddress)
  return json(linkJson(call, request, made))
}

const signUpInstead = (request: LinkRequest): LinkRequest => ({ ...request, type: 'signup', password: '' })

const unknownEmail = 'User with this email not found'

const isEmailChange = (type: AdminLinkType): boolean => linkTypes[type] === 'email_change'

function readLinkRequest(call: AdminCall<typeof io.generateLink>): LinkRequest {
  const { body, settings } = call
  const { type = '' } = body
  if (!Object.hasOwn(linkTypes, type)) {
    throw refuse('validation_failed', `Invalid email action link type requested: ${type.slice(0, 40)}`)
  }
  const asked = { ...call.askedRedirect, asked: body.redirect_to || call.askedRedirect.asked }
  const request: LinkRequest = {
    type: type as AdminLinkType,
    email: checkedEmail(body.email ?? ''),
    newEmail: isEmailChange(type as AdminLinkType) ? checkedEmail(body.new_email ?? '') : '',
    password: body.password ?? '',
    data: body.data ?? {},
    destination: destinationOf({ ...call, askedRedirect: asked }),
  }
  if (request.type === 'email_change_current' && !settings.secure_email_change) {
    throw refuse('validation_failed', 'Enable secure email change to generate link for current email')
  }
  checkNewMetadata(request.data, emailAppMetadata)
  if (request.type === 'signup') checkSignUpPassword(request, call)
  return request
}

function checkSignUpPassword({ password }: LinkRequest, { settings }: AdminCall): void {
  if (password === '') throw refuse('validation_failed', 'Signup requires a valid password')
  checkNewPassword(password, settings)
}

async function make(call: AdminCall, tools: AuthTools, request: LinkRequest, known: UserRow | null): Promise<MadeLink> {
  switch (request.type) {
    case 'signup':
      return forNewcomer(call, tools, request, await hashes(tools, request, known))
    case 'invite':
      return forNewcomer(call, tools, request, noHashes)
    case 'magiclink':
    case 'recovery':
      return inSlot(call, tools, request, { slot: 'recovery', address: request.email })
    case 'email_change_current':
      return inSlot(call, tools, request, { slot: 'email_change_current', address: request.email })
    case 'email_change_new':
      return inSlot(call, tools, request, { slot: 'email_change_new', address: request.newEmail })
  }
}

type Hashes = Pick<AwaitedAccount, 'passwordHash' | 'provedHash'>

const noHashes: Hashes = { passwordHash: null, provedHash: null }

/** A magic link for an unknown address has no password. */
async function hashes({ passwords }: AuthTools, { password }: LinkRequest, known: UserRow | null): Promise<Hashes> {
  if (password === '') return noHashes
  if (known === null) return { ...noHashes, passwordHash: await passwords.hash(password) }
  const stored = known.encrypted_password || null
  return (await passwords.compare(password, stored)) ? { ...noHashes, provedHash: stored } : noHashes
}

function forNewcomer(
  call: AdminCall,
  { oneTime, database }: AuthTools,
  { type, email, data }: LinkRequest,
  known: Hashes,
): Promise<MadeLink> {
  const issued = oneTime.issue('confirmation', email, 'implicit')
  return database.transaction(async (run) => {
    const before = await findUserByEmail(run, email)
    const userId = await awaitConfirmation(run, call, { email, data, issued, ...known })
    if (type === 'invite') await markInvited(run, userId)
    if (before !== null) await addMetadata(run, before.id, data)
    const action = type === 'invite' ? 'user_invited' : 'user_confirmation_requested'
    await auditAdmin(run, call, action, { id: userId, email })
    return { user: await existingUser(run, userId, unknownEmail), issued }
  })
}

/** Of a locked, unconfirmed account. */
async function addMetadata(run: RunStatement, id: string, data: JsonObject): Promise<void> {
  checkMetadataChange(await existingUser(run, id, unknownEmail), { user: data, app: null })
  await mergeUserMetadata(run, id, data)
}

function inSlot(
  call: AdminCall,
  { oneTime, database }: AuthTools,
  { type, email, newEmail }: LinkRequest,
  { slot, address }: { readonly slot: TokenSlot; readonly address: string },
): Promise<MadeLink> {
  const issued = oneTime.issue(slot, address, 'implicit')
  return database.transaction(async (run) => {
    const found = await findUserByEmail(run, email)
    if (found === null || !(await lockUser(run, found.id))) throw noSuchUser(unknownEmail)
    if (isEmailChange(type)) await beginEmailChange(run, await existingUser(run, found.id, unknownEmail), newEmail)
    await putOneTimeToken(run, { userId: found.id, ...issued })
    const action = isEmailChange(type) ? 'user_modified' : 'user_recovery_requested'
    await auditAdmin(run, call, action, { id: found.id, email })
    return { user: await existingUser(run, found.id, unknownEmail), issued }
  })
}

/** The links of both mailboxes belong to one change: only another address starts a new one. */
async function beginEmailChange(run: RunStatement, user: UserRow, newEmail: string): Promise<void> {
  const owner = await findUserByEmail(run, newEmail)
  if (owner !== null) throw refuse('email_exists')
  if (user.email_change === newEmail) return
  await clearOneTimeToken(run, user.id, 'email_change_new')
  await clearOneTimeToken(run, user.id, 'email_change_current')
  await beginChange(run, user.id, newEmail)
}

function linkJson({ settings }: AdminCall, request: LinkRequest, { user, issued }: MadeLink): JsonObject {
  const { type, email, newEmail, data, destination } = request
  const linkType = linkTypes[type]
  const variables = mailVariables(settings, { issued, linkType, destination, email, newEmail, data })
  return {
    ...userJson(user),
    action_link: variables.ConfirmationURL,
    email_otp: issued.code,
    hashed_token: issued.token,
    verification_type: type,
    redirect_to: destination,
  }
}
