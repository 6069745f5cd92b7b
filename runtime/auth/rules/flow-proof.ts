import { createHash, createHmac } from 'node:crypto'

/**
 * What binds the provider's answer to the flow that asked for it (RFC 9700 section 4.5): made of the flow's `state` by a
 * key, so that nothing of it has to be kept, and nobody else can make it.
 */
export interface FlowProof {
  /** RFC 7636. */
  readonly verifier: string
  /** OpenID Connect Core 1.0 section 3.1.2.1. */
  readonly nonce: string
}

export type ProveFlow = (state: string) => FlowProof

export function createFlowProof(projectSecret: string): ProveFlow {
  const key = createHmac('sha256', projectSecret).update('catalograph flows of providers').digest()
  const made = (part: string, state: string): string =>
    createHmac('sha256', key).update(`${part} ${state}`).digest('base64url')
  return (state) => ({ verifier: made('verifier', state), nonce: made('nonce', state) })
}

/** What the provider is sent of it. */
export const challengeOf = ({ verifier, nonce }: FlowProof): Readonly<Record<string, string>> => ({
  code_challenge: createHash('sha256').update(verifier, 'ascii').digest('base64url'),
  code_challenge_method: 'S256',
  nonce,
})
