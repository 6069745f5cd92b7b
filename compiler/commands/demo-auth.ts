import { migrateAuth } from '../../runtime/auth/schema/migrate.ts'
import { setFirstSettings } from '../../runtime/auth/settings/store.ts'
import { withAuthDatabase } from './auth-database.ts'

/** The usual address of an application in development; trying mails out takes several in a row. */
const demoSite = 'http://localhost:3000'

/** Prepares auth in the embedded database and enables it once; later settings of the owner stay. */
export async function enableDemoAuth(adminUrl: string): Promise<void> {
  await migrateAuth({ url: adminUrl })
  await withAuthDatabase(adminUrl, ({ run }) =>
    setFirstSettings(run, { auth_enabled: 'on', site_url: demoSite, mail_cooldown: '1' }),
  )
}
