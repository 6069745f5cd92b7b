/**
 * What openid-provider.ts uses of oidc-provider 9. The types that the community keeps of it bring seventeen packages.
 */
declare module 'oidc-provider' {
  import type { IncomingMessage, ServerResponse } from 'node:http'

  interface Account {
    readonly accountId: string
    readonly claims: () => Promise<{ readonly sub: string }>
  }

  interface Grant {
    addOIDCScope(scope: string): void
    save(): Promise<string>
  }

  interface Context {
    readonly oidc: {
      readonly client?: { readonly clientId: string }
      readonly session?: { readonly accountId?: string }
      readonly provider: {
        readonly Grant: new (of: { readonly clientId: string; readonly accountId: string }) => Grant
      }
    }
  }

  export interface Configuration {
    readonly clients: readonly object[]
    readonly jwks: { readonly keys: readonly object[] }
    readonly cookies: { readonly keys: readonly string[] }
    readonly pkce: { readonly required: () => boolean }
    readonly claims: Readonly<Record<string, readonly string[]>>
    readonly conformIdTokenClaims: boolean
    readonly features: { readonly devInteractions: { readonly enabled: boolean } }
    readonly interactions: { readonly url: (context: Context, interaction: { readonly uid: string }) => string }
    readonly findAccount: (context: Context, sub: string) => Account
    readonly loadExistingGrant: (context: Context) => Promise<Grant | undefined>
  }

  export class Provider {
    constructor(issuer: string, configuration: Configuration)
    callback(): (request: IncomingMessage, response: ServerResponse) => Promise<void>
    interactionDetails(
      request: IncomingMessage,
      response: ServerResponse,
    ): Promise<{ readonly params: Readonly<Record<string, unknown>> }>
    interactionFinished(request: IncomingMessage, response: ServerResponse, result: object): Promise<void>
  }
}
