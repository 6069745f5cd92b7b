import { describe, expect, it } from 'vitest'
import { startAuthServer } from '../support/auth.ts'
import { findChromium, noChromium, useBrowser } from '../support/chromium.ts'
import { forSuite } from '../support/for-suite.ts'
import { titled } from '../support/programs.ts'
import { enterDashboard, panelNames, showPanel } from '../support/dashboard.ts'
import { isWhole, leftToWhole, sized } from '../support/whole.ts'

const path = findChromium()
const tables = sized(500, 120)
/** One that has a parent and seven children, the first of which is `child`. */
const middle = Math.floor(tables / 7) - 1
const child = `Area${(7 * middle) % 10}OfTheApplication${7 * middle}`

/** Tables that refer to one another as those of a grown application do: most to a few, some to their neighbours. */
const sql = `
  comment on schema public is '@graphql({"inflect_names": true})';
  do $$ begin
    for n in 1..${tables} loop
      execute format('create table public.area_%s_of_the_application_%s (id int primary key, name text, note text, parent int%s)',
        n % 10, n, case when n > 10 then format(' references public.area_%s_of_the_application_%s', (n / 7) % 10, n / 7) else '' end);
      if n % 3 <> 0 and n > 1 then
        execute format('alter table public.area_%s_of_the_application_%s enable row level security', n % 10, n);
        execute format('create policy "everybody reads what has a name" on public.area_%s_of_the_application_%s for select
          using (name is not null and not exists (select from public.area_1_of_the_application_1 a where a.note = name))', n % 10, n);
      end if;
    end loop;
  end $$;
  grant select on all tables in schema public to anon, authenticated, service_role;`

describe.skipIf(path === null)(
  titled(`the dashboard of a database with ${tables} tables`, noChromium()),
  { timeout: 300_000 },
  () => {
    const browser = useBrowser(path ?? '')
    const server = forSuite(startAuthServer, { sql })

    it.for([
      ['light', 1280],
      ['dark', 360],
    ] as const)('can be read in all of its panels, %s and %i wide', async ([colorScheme, width], { skip }) => {
      skip(!isWhole && width > 360, leftToWhole)
      const viewport = { width, height: 800 }
      const watched = await enterDashboard(browser, server, 'auth', { colorScheme, viewport })
      const { page, context, errors } = watched
      for (const panel of panelNames) {
        await showPanel(watched, server, panel)
        expect([panel, await page.evaluate('document.documentElement.scrollWidth')]).toEqual([panel, width])
        await watched.shootView(`many-${panel}-${colorScheme}-${width}`)
      }
      expect(errors).toEqual([])
      await context.close()
    })

    it('is searched by name: policies, report and picture', async () => {
      const watched = await enterDashboard(browser, server, 'picture')
      const { page, context, checkAccess, shootView } = watched
      const filter = page.getByLabel('Filter by name')
      await page.getByText(`${tables} of ${tables} types`).waitFor()
      await filter.fill(`application${middle}`)
      await page.getByText(`9 of ${tables} types`).waitFor()
      await checkAccess()
      await shootView('many-picture-found')
      await filter.fill('')
      await page.getByLabel('Focus').selectOption(child)
      const box = page.locator('g.box').filter({ hasText: new RegExp(`^${child}`) })
      const frame = await page.getByRole('region', { name: 'Diagram of the schema' }).boundingBox()
      const seen = await box.boundingBox()
      expect([inside(seen?.x, frame?.x, frame?.width), inside(seen?.y, frame?.y, frame?.height)]).toEqual([true, true])
      await shootView('many-picture-focus')
      await showPanel(watched, server, 'policies')
      await filter.fill(`application_${middle}`)
      await page.getByText(`1 of ${tables} tables`).waitFor()
      await page.getByRole('button', { name: 'Try', exact: true }).click()
      await page.getByText('1 tried').waitFor()
      await page.getByRole('cell', { name: '0 rows' }).waitFor()
      await checkAccess()
      await shootView('many-policies-found')
      await showPanel(watched, server, 'report')
      await page.getByLabel('Filter').fill(`application_${middle}`)
      await page.getByText(`1 of ${tables}, for anon`).waitFor()
      await page.getByText(/^1 of \d+ problems$/).waitFor()
      await checkAccess()
      await shootView('many-report-found')
      await context.close()
    })
  },
)

const inside = (at = NaN, from = NaN, length = NaN): boolean => at >= from && at < from + length
