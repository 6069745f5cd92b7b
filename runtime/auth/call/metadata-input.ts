import { refuse, type AuthFailure } from '../protocol/errors.ts'
import { largestMetadata, merged, outgrows, type Metadata } from '../rules/metadata.ts'
import { emailAppMetadata, emailUserMetadata } from '../rules/user-json.ts'
import type { UserRow } from '../protocol/records.ts'
import type { JsonObject } from '../../lib/json.ts'

/** Metadata that tokens could not carry is refused when it is set: all functions throw 422 `metadata_too_large`. */

/** Of a new account, in its final form. */
export function checkNewMetadata(user: JsonObject, app: JsonObject): void {
  if (outgrows({ user, app }, null)) throw tooLarge()
}

/** Of a sign-up by address. Every id is as long as this one. */
export function checkSignUpMetadata(email: string, data: JsonObject): void {
  const id = '00000000-0000-0000-0000-000000000000'
  checkNewMetadata(emailUserMetadata(id, email, data, false), emailAppMetadata)
}

/** Of a locked user; null changes nothing. */
export function checkMetadataChange(
  { raw_app_meta_data: app, raw_user_meta_data: user }: UserRow,
  change: Metadata,
): void {
  const after = { user: merged(user, change.user ?? {}), app: merged(app, change.app ?? {}) }
  if (outgrows(after, { user, app })) throw tooLarge()
}

const tooLarge = (): AuthFailure =>
  refuse(
    'metadata_too_large',
    `app_metadata and user_metadata may have at most ${largestMetadata} bytes together, as JSON`,
  )
