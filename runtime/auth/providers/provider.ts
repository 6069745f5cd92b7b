import type { ServerMetadata } from 'openid-client'
import type { AuthSettings } from '../settings/setting-keys.ts'

/** Names of settings whose values are of a type. */
type SettingOf<T> = { [N in keyof AuthSettings]: AuthSettings[N] extends T ? N : never }[keyof AuthSettings]

/** What OpenID Connect leaves to each provider: a row of table.ts. */
export interface ProviderRow {
  /** Whom its ID tokens are from. */
  readonly issuer: string
  /** How its tokens name the issuer besides. */
  readonly aliases: readonly string[]
  /** Its discovery document, pinned so that nothing is asked first. */
  readonly metadata: ServerMetadata
  /** What every sign-in asks for (spec/auth.md 6.3). */
  readonly scopes: readonly string[]
  /** What its ID tokens are signed with: its discovery document, `id_token_signing_alg_values_supported`. */
  readonly algorithms: readonly ('RS256' | 'PS256' | 'ES256')[]
  /** The owner's settings of it: all three are needed (spec/auth.md 1). */
  readonly settings: {
    readonly enabled: SettingOf<boolean>
    readonly clientId: SettingOf<string>
    readonly secret: SettingOf<string>
  }
}
