import { confirmAddress } from '../../runtime/auth/accounts/accounts.ts'
import { insertAccount } from '../../runtime/auth/accounts/registration.ts'
import { makeHash } from '../../runtime/auth/secrets/algorithms.ts'
import { findUserByEmail } from '../../runtime/auth/store/users.ts'
import { withAuthDatabase } from './auth-database.ts'

/** Of the embedded database, which only this machine reaches. */
export const demoPassword = 'catalograph-demo'

/** Users 1 and 2 of the demo's blog. */
const demoAccounts = [
  { id: '00000000-0000-4000-8000-000000000001', email: 'ada.okafor@example.com' },
  { id: '00000000-0000-4000-8000-000000000002', email: 'bruno.bianchi@example.com' },
] as const

/** Creates the accounts, confirmed, with one password; in one transaction. */
export async function createDemoAccounts(adminUrl: string): Promise<void> {
  const hash = await makeHash(demoPassword)
  await withAuthDatabase(adminUrl, ({ transaction }) =>
    transaction(async (run) => {
      for (const { id, email } of demoAccounts) {
        const settings = { jwt_aud: 'authenticated', jwt_default_role: 'authenticated' }
        await insertAccount(run, { id, email, data: {}, hash, token: '' }, settings)
        await confirmAddress(run, { id, email }, 'admin')
      }
    }),
  )
}

/** The addresses of those that exist. */
export const presentDemoAccounts = (adminUrl: string): Promise<readonly string[]> =>
  withAuthDatabase(adminUrl, async ({ run }) => {
    const found = await Promise.all(demoAccounts.map(({ email }) => findUserByEmail(run, email)))
    return found.flatMap((user) => user?.email ?? [])
  })
