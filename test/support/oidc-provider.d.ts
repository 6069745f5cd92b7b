/** The part of oidc-provider 9 that openid-provider.ts uses. The types of DefinitelyTyped bring seventeen packages. */
declare module 'oidc-provider' {
  import type { IncomingMessage as Request, ServerResponse as Response } from 'node:http'

  type Grant = { addOIDCScope(scope: string): void; save(): Promise<string> }
  type Oidc = {
    client?: { clientId: string }
    session?: { accountId?: string }
    provider: { Grant: new (of: object) => Grant }
  }
  export interface Configuration {
    readonly [setting: string]: unknown
    readonly interactions: { readonly url: (context: unknown, interaction: { readonly uid: string }) => string }
    readonly findAccount: (context: unknown, sub: string) => object
    readonly loadExistingGrant: (context: { readonly oidc: Oidc }) => Promise<Grant | undefined>
  }
  export class Provider {
    constructor(issuer: string, configuration: Configuration)
    callback(): (request: Request, response: Response) => Promise<void>
    interactionDetails(request: Request, response: Response): Promise<{ readonly params: Record<string, unknown> }>
    interactionFinished(request: Request, response: Response, result: object): Promise<void>
  }
}
