import { mkdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import axe from 'axe-core'
import { chromium, type Browser, type BrowserContext, type Page, type Request } from 'playwright-core'
import { afterAll, beforeAll, expect } from 'vitest'
import { isInstalled } from './programs.ts'
import { isWhole } from './whole.ts'

/** Debian's: the one without windows takes half the CPU of the other for the same page. */
const chromiums = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium']

const named = process.env['CHROMIUM']
const paths = named === undefined ? chromiums : [named]

/** Debian's Chromium, or the one that CHROMIUM names; null: there is none. */
export const findChromium = (): string | null => paths.find(isInstalled) ?? null

/** A missing program that must be installed; null: none. */
export const noChromium = (): string | null =>
  findChromium() === null ? `there is no browser at ${paths.join(' or ')}` : null

/** Kept for anyone who looks, with WHOLE=1: a picture takes longer than the test of its page. Not in git. */
const screenshots = new URL('../browser/screenshots/', import.meta.url)

export interface BrowserRun {
  readonly browser: Browser
  readonly open: (options?: Parameters<Browser['newContext']>[0]) => Promise<WatchedPage>
}

/** A page, and what went wrong on it. */
export interface WatchedPage {
  readonly page: Page
  readonly context: BrowserContext
  /** Errors of scripts, refusals of the content security policy among them. */
  readonly errors: readonly string[]
  /** Origins that anything was asked of. */
  readonly origins: ReadonlySet<string>
  /** Bytes of bodies that came so far, as they came over the wire. */
  readonly bytes: () => Promise<number>
  /** Keeps a picture of it. */
  readonly shoot: (name: string) => Promise<void>
  /** Keeps a picture of what is seen without scrolling. */
  readonly shootView: (name: string) => Promise<void>
  /** Fails with what axe-core has against the page as it is, in WCAG 2.2 A and AA and best practices. */
  readonly checkAccess: (exclude?: readonly string[]) => Promise<void>
}

/** A browser for the tests of a file. `hosts`, asked once the hooks before it are done, says what names lead to. */
export function useBrowser(
  executablePath: string,
  hosts: () => Readonly<Record<string, string>> = () => ({}),
): BrowserRun {
  const run: { browser: Browser | null } = { browser: null }
  beforeAll(async () => {
    await mkdir(screenshots, { recursive: true })
    const rules = Object.entries(hosts())
      .map(([host, place]) => `MAP ${host} ${place}`)
      .join(', ')
    const args = ['--no-sandbox', ...(rules === '' ? [] : [`--host-resolver-rules=${rules}`])]
    run.browser = await chromium.launch({ executablePath, args })
  })
  afterAll(() => run.browser?.close())
  const browser = (): Browser => {
    if (run.browser === null) throw new Error('The browser is not there yet.')
    return run.browser
  }
  return {
    get browser() {
      return browser()
    },
    open: async (options) => watch(await (await browser().newContext(options)).newPage()),
  }
}

function watch(page: Page): WatchedPage {
  const errors: string[] = []
  const origins = new Set<string>()
  const sizes: Promise<number>[] = []
  page.on('pageerror', (error) => errors.push(error.message))
  page.on('console', (message) => {
    // The browser itself notes answers of 4xx, which pages show in their own words.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) errors.push(message.text())
  })
  const noteOrigin = (request: Request): void => {
    if (/^https?:/.test(request.url())) origins.add(new URL(request.url()).origin)
  }
  page.on('response', (response) => noteOrigin(response.request()))
  // Requests that the policy blocked were never sent.
  page.on('requestfailed', (request) => {
    if (request.failure()?.errorText !== 'csp') noteOrigin(request)
  })
  page.on('requestfinished', (request) =>
    sizes.push(
      request.sizes().then(
        ({ responseBodySize }) => responseBodySize,
        // The page was closed in the meantime.
        () => 0,
      ),
    ),
  )
  return {
    page,
    context: page.context(),
    errors,
    origins,
    bytes: async () => (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0),
    shoot: (name) => keepPicture(page, name, true),
    shootView: (name) => keepPicture(page, name, false),
    checkAccess: (exclude = []) => checkAccess(page, exclude),
  }
}

async function keepPicture(page: Page, name: string, fullPage: boolean): Promise<void> {
  if (!isWhole) return
  await page.screenshot({ path: fileURLToPath(new URL(`${name}.png`, screenshots)), fullPage })
}

async function checkAccess(page: Page, exclude: readonly string[]): Promise<void> {
  // A page keeps it from one panel to the next.
  if (await page.evaluate('globalThis.axe === undefined')) await page.evaluate(axe.source)
  const found = await page.evaluate(async (without) => {
    const page = globalThis as unknown as { readonly axe: typeof axe }
    const { violations } = await page.axe.run({ include: [['body']], exclude: without.map((one) => [one]) })
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join(' | ')}`)
  }, exclude)
  expect(found).toEqual([])
}
