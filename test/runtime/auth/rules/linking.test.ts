import { describe, expect, it } from 'vitest'
import {
  decideLink,
  type AccountFacts,
  type LinkDecision,
  type LinkFacts,
} from '../../../../runtime/auth/rules/providers.ts'

const email = 'e@example.com'
const account = (facts: Partial<AccountFacts> = {}): AccountFacts => ({
  id: 'a',
  email,
  confirmed: true,
  proof: 'mailbox',
  banned: false,
  ...facts,
})
const other = account({ id: 'b' })

const unconfirmed = account({ confirmed: false, proof: null })
const automatic = account({ proof: 'autoconfirm' })
const banned = account({ banned: true })
const addressless = account({ email: null, confirmed: false, proof: null })
const elsewhere = account({ email: 'elsewhere@example.com', confirmed: false, proof: null })

const rows: readonly { readonly row: string; readonly facts: Partial<LinkFacts>; readonly result: LinkDecision }[] = [
  {
    row: '1: the identity is known',
    facts: { owner: account(), sameAddress: [other] },
    result: { kind: 'sign-in', account: account(), confirm: false },
  },
  {
    row: '1: the identity is known, whatever is verified and whether sign-ups are open',
    facts: { owner: account(), verified: false, signUpDisabled: true },
    result: { kind: 'sign-in', account: account(), confirm: false },
  },
  {
    row: '1: of an account without an address',
    facts: { owner: addressless, verified: false },
    result: { kind: 'sign-in', account: addressless, confirm: false },
  },
  {
    row: '1: whose own unconfirmed address the provider has verified by now',
    facts: { owner: unconfirmed },
    result: { kind: 'sign-in', account: unconfirmed, confirm: true },
  },
  {
    row: '1: another verified address confirms nothing and opens nothing',
    facts: { owner: elsewhere },
    result: { kind: 'remind', account: elsewhere },
  },
  {
    row: '1: still not verified',
    facts: { owner: unconfirmed, verified: false },
    result: { kind: 'remind', account: unconfirmed },
  },
  {
    row: '2: not verified, nobody has the address',
    facts: { verified: false },
    result: { kind: 'create', email, confirmed: false },
  },
  {
    row: '2: not verified, the address is taken by a confirmed account',
    facts: { verified: false, sameAddress: [account()] },
    result: { kind: 'create', email: null, confirmed: false },
  },
  {
    row: '2: not verified, the address is taken by an unconfirmed account',
    facts: { verified: false, sameAddress: [unconfirmed] },
    result: { kind: 'create', email: null, confirmed: false },
  },
  {
    row: '2: no address at all',
    facts: { email: null, verified: false },
    result: { kind: 'create', email: null, confirmed: false },
  },
  { row: '3: verified and free', facts: {}, result: { kind: 'create', email, confirmed: true } },
  {
    row: '4: proved by mailbox',
    facts: { sameAddress: [account()] },
    result: { kind: 'link', account: account() },
  },
  ...(['admin', 'provider', null] as const).map((proof) => ({
    row: `4: proof ${proof} counts as one`,
    facts: { sameAddress: [account({ proof })] },
    result: { kind: 'link', account: account({ proof }) } as const,
  })),
  {
    row: '5: unconfirmed',
    facts: { sameAddress: [unconfirmed] },
    result: { kind: 'take-over', account: unconfirmed },
  },
  {
    row: '6: confirmed without any proof',
    facts: { sameAddress: [automatic] },
    result: { kind: 'take-over', account: automatic },
  },
  {
    row: '7: several',
    facts: { sameAddress: [account(), other] },
    result: { kind: 'refuse', reason: 'several' },
  },
  { row: '8: banned, by identity', facts: { owner: banned }, result: { kind: 'refuse', reason: 'banned' } },
  { row: '8: banned, by address', facts: { sameAddress: [banned] }, result: { kind: 'refuse', reason: 'banned' } },
  {
    row: '9: sign-ups are closed',
    facts: { signUpDisabled: true },
    result: { kind: 'refuse', reason: 'signup-disabled' },
  },
  {
    row: '9: sign-ups are closed, not verified',
    facts: { signUpDisabled: true, verified: false, sameAddress: [account()] },
    result: { kind: 'refuse', reason: 'signup-disabled' },
  },
  {
    row: '4: closed sign-ups keep nobody out who is there',
    facts: { signUpDisabled: true, sameAddress: [account()] },
    result: { kind: 'link', account: account() },
  },
]

describe('account linking (spec/auth.md 6.5)', () => {
  it.each(rows)('follows row $row of the table', ({ facts, result }) => {
    const usual: LinkFacts = { owner: null, sameAddress: [], email, verified: true, signUpDisabled: false }
    expect(decideLink({ ...usual, ...facts })).toEqual(result)
  })
})
