import type { AuthServer } from './auth.ts'
import type { BrowserRun, WatchedPage } from './chromium.ts'

/** Every panel of the dashboard by its name in the address. */
export const panelNames = [
  'home',
  'auth',
  'connect',
  'users',
  'audit',
  'templates',
  'outbox',
  'policies',
  'requests',
  'live',
  'report',
  'picture',
  'graphiql',
] as const
export type PanelName = (typeof panelNames)[number]

/** The page after sign-in with the key, at a panel that has its data. */
export async function enterDashboard(
  browser: BrowserRun,
  server: AuthServer,
  panel: PanelName,
  options: Parameters<BrowserRun['open']>[0] = {},
): Promise<WatchedPage> {
  const watched = await browser.open(options)
  await watched.page.goto(`${server.url}/dashboard#${panel}`)
  await watched.page.getByLabel('service_role key').fill(server.serviceRole)
  await watched.page.keyboard.press('Enter')
  await watched.page.getByRole('navigation', { name: 'Panels' }).waitFor()
  await watched.page.getByText('Loading …').first().waitFor({ state: 'detached' })
  return watched
}

/** Another panel of a page that was entered. */
export async function showPanel({ page }: WatchedPage, server: AuthServer, panel: PanelName): Promise<void> {
  await page.goto(`${server.url}/dashboard#${panel}`)
  await page.locator(`main[data-panel=${panel}]`).waitFor()
  await page.getByText('Loading …').first().waitFor({ state: 'detached' })
}
