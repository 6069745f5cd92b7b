import type { FlowProof } from '../rules/credentials.ts'
import type { OpenIdProfile } from '../rules/providers.ts'
import type { ProviderTokens } from '../store/flow-states.ts'
import type { VerifiedClaims } from './id-token.ts'
import type { ProviderName } from './provider-table.ts'

/** The providers of a project as their users see them. Types only: the dashboard's page reads some of them. */

export interface ProviderClient {
  readonly clientId: string
  readonly secret: string
}

export interface SignedIn {
  readonly profile: OpenIdProfile
  readonly tokens: ProviderTokens
}

/** The code of a returned browser, and the parameters of its flow. */
export interface CodeGrant {
  readonly code: string
  readonly redirectUri: string
  readonly proof: FlowProof
}

export interface Provider {
  /** The issuer of valid tokens. */
  readonly issuer: string
  /** The address for the browser; rejects while the provider cannot be reached. */
  readonly authorizationUrl: (client: ProviderClient, parameters: Readonly<Record<string, string>>) => Promise<string>
  /** Exchanges a code for the provider's profile of the person. Rejects if it refuses, is inconsistent or is late. */
  readonly exchange: (client: ProviderClient, grant: CodeGrant) => Promise<SignedIn>
  /** The claims of a presented ID token. Rejects if it is invalid. */
  readonly verify: (client: ProviderClient, idToken: string, accessToken: string) => Promise<VerifiedClaims>
}

export type ProviderSet = Readonly<Record<ProviderName, Provider>>

/** The issuer of each provider's tokens: its own, or the operator's replacement for tests. */
export type Issuers = Readonly<Record<ProviderName, string>>
