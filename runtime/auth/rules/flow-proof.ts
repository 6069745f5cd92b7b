import { createHash, createHmac } from 'node:crypto'

/**
 * Binds the provider's answer to the flow that requested it (RFC 9700 section 4.5): derived from the flow's `state` by
 * a key, so that it need not be stored and cannot be forged.
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

/** The part for the provider. */
export const challengeOf = ({ verifier, nonce }: FlowProof): Readonly<Record<string, string>> => ({
  code_challenge: createHash('sha256').update(verifier, 'ascii').digest('base64url'),
  code_challenge_method: 'S256',
  nonce,
})
