import { migrateAuth } from '../../runtime/auth/schema/migrate.ts'
import { setFirstSettings } from '../../runtime/auth/settings/store.ts'
import { withAuthDatabase } from './auth-database.ts'

/** Where an application that is being developed usually runs; who tries mails out asks for several in a row. */
const demoSite = 'http://localhost:3000'

/** Prepares auth in the embedded database and enables it once; what its owner sets afterwards stays. */
export async function enableDemoAuth(adminUrl: string): Promise<void> {
  await migrateAuth({ url: adminUrl })
  await withAuthDatabase(adminUrl, ({ run }) =>
    setFirstSettings(run, { auth_enabled: 'on', site_url: demoSite, mail_cooldown: '1' }),
  )
}
