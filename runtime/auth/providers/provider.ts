import type { ServerMetadata } from 'openid-client'
import type { AuthSettings } from '../settings/setting-keys.ts'

/** Names of settings whose values are of a type. */
type SettingOf<T> = { [N in keyof AuthSettings]: AuthSettings[N] extends T ? N : never }[keyof AuthSettings]

/** The facts that OpenID Connect leaves to each provider: a row of table.ts. */
export interface ProviderRow {
  readonly issuer: string
  /** Further names of the issuer in its tokens. */
  readonly aliases: readonly string[]
  /** Its discovery document, as a constant that saves a request. */
  readonly metadata: ServerMetadata
  /** The scopes of every sign-in (spec/auth.md 6.3). */
  readonly scopes: readonly string[]
  /** The algorithms of its ID tokens: its discovery document, `id_token_signing_alg_values_supported`. */
  readonly algorithms: readonly ('RS256' | 'PS256' | 'ES256')[]
  /** The owner's settings of it: all three are needed (spec/auth.md 1). */
  readonly settings: {
    readonly enabled: SettingOf<boolean>
    readonly clientId: SettingOf<string>
    readonly secret: SettingOf<string>
  }
}
