/** Whose account a sign-in by the provider opens: the table of spec/auth.md 6.5. */

/** How an address came to count as confirmed. An account without a proof, such as an imported one, counts as proved. */
export type AddressProof = 'mailbox' | 'autoconfirm' | 'admin' | 'provider'

export interface AccountFacts {
  readonly id: string
  /** In lower case; null: the account has none. */
  readonly email: string | null
  readonly confirmed: boolean
  /** Null: the account came from elsewhere, which counts as proved. */
  readonly proof: AddressProof | null
  readonly banned: boolean
}

export interface LinkFacts {
  /** Whose identity the provider's subject is. */
  readonly owner: AccountFacts | null
  /** The accounts that have the provider's address. */
  readonly sameAddress: readonly AccountFacts[]
  /** The provider's address in lower case; null: it sent none that is valid. */
  readonly email: string | null
  /** Whether the provider says that it is verified; no setting of ours makes up for that. */
  readonly verified: boolean
  readonly signUpDisabled: boolean
}

export type LinkDecision =
  /** spec/auth.md 6.5, rows 1 and 4. `confirm`: the provider proves the very address that the account has. */
  | { readonly kind: 'sign-in'; readonly account: AccountFacts; readonly confirm: boolean }
  | { readonly kind: 'link'; readonly account: AccountFacts }
  /** spec/auth.md 6.5, rows 5 and 6: the mailbox was never proved before, so the whole account may be a stranger's. */
  | { readonly kind: 'take-over'; readonly account: AccountFacts }
  /** spec/auth.md 6.5, rows 2 and 3. An address that is not confirmed has to be, by mail, before anybody gets in. */
  | { readonly kind: 'create'; readonly email: string | null; readonly confirmed: boolean }
  /** The account that the identity opens has an unproved address: a mail goes there, and the sign-in is refused. */
  | { readonly kind: 'remind'; readonly account: AccountFacts }
  | { readonly kind: 'refuse'; readonly reason: 'banned' | 'signup-disabled' | 'several' }

export function decideLink(facts: LinkFacts): LinkDecision {
  if (facts.owner !== null) return signInAs(facts.owner, facts)
  const provedEmail = facts.verified ? facts.email : null
  if (provedEmail === null || facts.sameAddress.length === 0) return create(facts)
  const [account, ...others] = facts.sameAddress
  if (account === undefined || others.length > 0) return { kind: 'refuse', reason: 'several' }
  if (account.banned) return { kind: 'refuse', reason: 'banned' }
  const proved = account.confirmed && account.proof !== 'autoconfirm'
  return { kind: proved ? 'link' : 'take-over', account }
}

function signInAs(account: AccountFacts, { email, verified }: LinkFacts): LinkDecision {
  if (account.banned) return { kind: 'refuse', reason: 'banned' }
  if (account.confirmed || account.email === null) return { kind: 'sign-in', account, confirm: false }
  if (verified && account.email === email) return { kind: 'sign-in', account, confirm: true }
  return { kind: 'remind', account }
}

function create({ email, verified, sameAddress, signUpDisabled }: LinkFacts): LinkDecision {
  if (signUpDisabled) return { kind: 'refuse', reason: 'signup-disabled' }
  const free = sameAddress.length === 0 ? email : null
  return { kind: 'create', email: free, confirmed: verified && free !== null }
}
