/**
 * Whether whoever began an account could come back to it: by the password that they chose, or by their account at a
 * provider. While the address is unconfirmed nobody knows that they are the one who will confirm it.
 */
export function hasWayIn(user: {
  readonly encrypted_password: string | null
  readonly identities: readonly { readonly provider: string }[]
}): boolean {
  return (user.encrypted_password ?? '') !== '' || user.identities.some(({ provider }) => provider !== 'email')
}
