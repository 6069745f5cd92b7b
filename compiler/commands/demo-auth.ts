import { migrateAuth } from '../../runtime/auth/schema/migrate.ts'
import { authOwner } from '../../runtime/auth/schema/auth-schema.ts'
import { setFirstSettings } from '../../runtime/auth/settings/store.ts'
import { openStatements } from '../../runtime/db/statements.ts'

/** Where an application that is being developed usually runs. */
const demoSite = 'http://localhost:3000'

/** Prepares auth in the embedded database and enables it once; what its owner sets afterwards stays. */
export async function enableDemoAuth(adminUrl: string): Promise<void> {
  await migrateAuth({ url: adminUrl })
  const database = openStatements({
    url: adminUrl,
    schemas: ['auth'],
    role: authOwner,
    poolSize: 1,
    statementTimeout: 0,
  })
  try {
    await setFirstSettings(database.run, { auth_enabled: 'on', site_url: demoSite })
  } finally {
    await database.close()
  }
}
