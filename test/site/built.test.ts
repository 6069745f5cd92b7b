import { readdirSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { fastify, type FastifyInstance } from 'fastify'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { registerDocs } from '../../runtime/console/docs.ts'
import { packageFolder } from '../../runtime/lib/package.ts'
import { findChromium, noChromium, useBrowser } from '../support/chromium.ts'
import { titled } from '../support/programs.ts'

/** The site as `npm run docs` built it. */

const isAsked = process.env['SITE'] === '1'
const folder = join(packageFolder(), 'dist/docs')
const title = isAsked ? 'the built site' : 'the built site (npm run test:docs)'

describe.skipIf(!isAsked)(title, () => {
  const files = isAsked ? readdirSync(folder, { recursive: true, encoding: 'utf8' }) : []
  const pages = files.filter((file) => file.endsWith('.html'))
  const read = (page: string): string => readFileSync(join(folder, page), 'utf8')

  it('has pages whose links lead to pages and headings', () => {
    expect(pages.length).toBeGreaterThan(30)
    const leads = (page: string, href: string): boolean => {
      const [path = '', hash] = href.split('#')
      const target = path === '' ? page : posix.join(posix.dirname(page), path)
      if (!files.includes(target)) return false
      return hash === undefined || read(target).includes(` id="${decodeURIComponent(hash)}"`)
    }
    const broken = pages.flatMap((page) =>
      [...read(page).matchAll(/ (?:href|src)="(?!https?:)([^"]+)"/g)]
        .filter(([, href = '']) => !leads(page, href))
        .map(([, href]) => `${page}: ${href}`),
    )
    expect(broken).toEqual([])
  })

  it('has nothing that the policy of the service refuses', () => {
    const refused = / style="|<style|<script(?![^>]* src=)| on[a-z]+="|(?:src|rel="stylesheet" href)="https?:/
    expect(pages.filter((page) => refused.test(read(page)))).toEqual([])
  })

  describe.skipIf(findChromium() === null)(titled('in a browser', noChromium()), { timeout: 60_000 }, () => {
    const browser = useBrowser(findChromium() ?? '')
    let app: FastifyInstance
    let url: string
    beforeAll(async () => {
      app = fastify()
      registerDocs(app)
      url = await app.listen({ port: 0, host: '127.0.0.1' })
    })
    afterAll(() => app.close())

    it('finds a setting, and the page that explains it', async () => {
      const { page, context, errors, origins, checkAccess, shootView } = await browser.open()
      await page.goto(`${url}/docs/spec/auth.html`)
      await page.getByLabel('Search').fill('SHUTDOWN_DRAIN')
      await page.getByRole('link', { name: 'Deploy: Stopping' }).click()
      await page.waitForURL(`${url}/docs/deploy.html#stopping`)
      expect(await page.getByRole('link', { name: 'Deploy', exact: true }).getAttribute('aria-current')).toBe('page')
      await page.getByLabel('Search').fill('no such word anywhere')
      await page.getByText('Nothing was found.').waitFor()
      await checkAccess()
      await shootView('docs')
      expect([errors, [...origins]]).toEqual([[], [url]])
      await context.close()
    })

    it('fits a narrow screen', async () => {
      const { page, context } = await browser.open({ viewport: { width: 390, height: 800 } })
      await page.goto(`${url}/docs/operate.html`)
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390)
      await context.close()
    })
  })
})
