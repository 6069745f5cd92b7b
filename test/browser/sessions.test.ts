import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { startAuthServer } from '../support/auth.ts'
import { findChromium, noChromium, useBrowser } from '../support/chromium.ts'
import { forSuite } from '../support/for-suite.ts'
import { titled } from '../support/programs.ts'
import { google, startOpenIdProvider } from '../support/openid-provider.ts'
import { sharedDomain, startSite, type SiteWindow } from '../support/site.ts'

const path = findChromium()
const projectUrl = 'http://project.test'
const externalUrl = `${projectUrl}/auth/v1`

describe.skipIf(path === null)(titled('sessions in a browser', noChromium()), { timeout: 60_000 }, () => {
  const provider = forSuite(startOpenIdProvider, { redirectUri: `${externalUrl}/callback`, claimsIn: 'id-token' })
  const server = forSuite(() =>
    startAuthServer({
      googleIssuer: provider.issuer,
      settings: {
        external_url: externalUrl,
        anonymous_enabled: 'on',
        google_enabled: 'on',
        google_client_id: google.clientId,
        google_secret: google.secret,
      },
    }),
  )
  const site = forSuite(() => startSite(projectUrl, server.anon))
  beforeAll(async () => {
    await server.set({ site_url: at('localhost'), redirect_allow_list: `${at('*.shop.localhost')}/**` })
  })
  const browser = useBrowser(path ?? '', () => ({ 'project.test': new URL(server.url).host }))

  const at = (host: string): string => `http://${host}:${site.port}`
  const visit = async (page: Page, url: string): Promise<void> => {
    await page.goto(url)
    await page.getByText('ready').waitFor()
  }
  /** The signed-in user that the page shows. */
  const user = (page: Page) =>
    page.evaluate(async () => {
      const { client } = globalThis as unknown as SiteWindow
      const { data } = await client.auth.getSession()
      return data.session?.user ?? null
    })

  it('a guest becomes a user by the link of a mail, and stays the same person', async () => {
    const { page, context, errors } = await browser.open()
    await visit(page, at('localhost'))
    const guest = await page.evaluate(async () => {
      const { client } = globalThis as unknown as SiteWindow
      const { data } = await client.auth.signInAnonymously({ options: { data: { basket: 'full' } } })
      await client.auth.updateUser({ email: 'guest@example.com' })
      return data.user
    })
    expect(guest).toMatchObject({ is_anonymous: true, user_metadata: { basket: 'full' } })
    const [mail] = await server.mails('guest@example.com')
    await visit(page, mail?.url ?? '')
    expect(page.url()).toBe(`${at('localhost')}/`)
    expect(await user(page)).toMatchObject({ id: guest?.id, email: 'guest@example.com', is_anonymous: false })
    expect(errors).toEqual([])
    await context.close()
  })

  it('pass over Google and back, signed in', async () => {
    provider.people.set('ada', { email: 'ada@gmail.example', email_verified: true, name: 'Ada' })
    const { page, context, errors } = await browser.open()
    await visit(page, at('localhost'))
    await page.evaluate(async () => {
      const { client } = globalThis as unknown as SiteWindow
      await client.auth.signInWithOAuth({ provider: 'google', options: { queryParams: { login_hint: 'ada' } } })
    })
    await page.waitForURL(`${at('localhost')}/**`)
    await expect.poll(() => user(page), { timeout: 10_000 }).toMatchObject({ email: 'ada@gmail.example' })
    // The code is spent, and the address bar shows none.
    expect(page.url()).toBe(`${at('localhost')}/`)
    await page.reload()
    await page.getByText('ready').waitFor()
    expect(await user(page)).toMatchObject({ email: 'ada@gmail.example' })
    expect(errors).toEqual([])
    await context.close()
  })

  it('cookies: two subdomains share a session and its end, and no other site has it', async () => {
    const { page, context } = await browser.open()
    const other = await context.newPage()
    await visit(page, at(`one.${sharedDomain}`))
    const id = await page.evaluate(async () => {
      const { client } = globalThis as unknown as SiteWindow
      return (await client.auth.signInAnonymously()).data.user?.id
    })
    await visit(other, at(`two.${sharedDomain}`))
    expect((await user(other))?.id).toBe(id)
    const stranger = await context.newPage()
    await visit(stranger, at('localhost'))
    expect(await user(stranger)).toBeNull()
    await other.evaluate(async () => void (await (globalThis as unknown as SiteWindow).client.auth.signOut()))
    await page.reload()
    await page.getByText('ready').waitFor()
    expect([await user(page), await context.cookies(at(`one.${sharedDomain}`))]).toEqual([null, []])
    await context.close()
  })
})
