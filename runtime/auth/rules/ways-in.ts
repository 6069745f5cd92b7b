/**
 * Whether the person who began an account could come back to it: by the password that they chose, or by their account
 * at a provider. While the address is unconfirmed, another person may be the one who confirms it.
 */
export function hasWayIn(user: {
  readonly encrypted_password: string | null
  readonly identities: readonly { readonly provider: string }[]
}): boolean {
  return (user.encrypted_password ?? '') !== '' || user.identities.some(({ provider }) => provider !== 'email')
}
