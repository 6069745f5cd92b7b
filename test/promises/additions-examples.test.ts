import { describe, expect, onTestFinished, test } from 'vitest'
import { postgisMajor } from '../support/clusters.ts'
import { additionPages, demoSql, examplesIn, readPage, refusalOf, type Example } from '../support/examples.ts'
import { forSuite } from '../support/for-suite.ts'
import { createTestService, type Answer, type TestService } from '../support/service.ts'
import { keys } from '../support/with-additions.ts'

/** The examples on the pages of the additions work unchanged on the demo, one after the other. */

const page = additionPages.map(readPage).join('\n')

/** The text before the first key, and then each key with its text. */
const [before = '', ...others] = page.split(/^### `(\w+)`$/m)
const explained = others.flatMap((key, index) =>
  index % 2 === 0 ? [[key, examplesIn(others[index + 1] ?? '')] as const] : [],
)

const inRows = (text: string): readonly string[] =>
  [...text.matchAll(/^\|([^|]*)\|([^|]*)\|/gm)].flatMap(([, ...cells]) =>
    cells.flatMap((cell) => [...cell.matchAll(/`(\w+)/g)].map(([, key = '']) => key)),
  )

test('every setting has a row, and every addition an example that can be asked', () => {
  const rows = inRows(readPage('docs/api.md') + page)
  expect(keys.map(({ key }) => key).filter((key) => !rows.includes(key))).toEqual([])
  const additions = inRows(page)
  expect(additions.length).toBeGreaterThan(13)
  const shown = new Map(explained)
  const asked = (key: string): boolean => shown.get(key)?.some(({ language }) => language !== 'sql') ?? false
  expect(additions.filter((key) => !asked(key))).toEqual([])
})

async function open(major: ReturnType<typeof postgisMajor>): Promise<TestService> {
  const service = await createTestService({
    sql: demoSql(),
    role: 'service_role',
    withTriggers: true,
    ...(major !== null && { major, superuser: 'PostGIS is no trusted extension' }),
  })
  for (const { text } of examplesIn(before)) await service.db.query(text)
  return service
}

async function send({ graphql }: TestService, shell: string): Promise<Answer> {
  const { query = null, extensions } = JSON.parse(/-d '([^']*)'/.exec(shell)?.[1] ?? '')
  const answer = await graphql(query, { extensions, role: 'anon' })
  const told = Object.keys(extensions).filter((name) => name !== 'persistedQuery')
  expect(Object.keys(answer.extensions ?? {})).toEqual(told)
  return answer
}

async function run(service: TestService, { language, text }: Example): Promise<void> {
  if (language === 'sql') return void (await service.db.query(text))
  const answer = language === 'sh' ? await send(service, text) : await service.graphql(text)
  const code = refusalOf(text)
  expect(answer.errors?.map(({ extensions }) => extensions.code)).toEqual(code === undefined ? undefined : [code])
  if (code === undefined) expect(JSON.stringify(answer.data)).not.toMatch(/\[\]|^{}$/)
}

describe('the additions, as their page shows them', () => {
  const service = forSuite(open, null)

  test.each(explained.filter(([key]) => key !== 'geo'))('answer the example of %s', async (_key, examples) => {
    for (const example of examples) await run(service, example)
  })
})

const major = postgisMajor()

test.skipIf(major === null)(
  `the addition geo answers its examples${major === null ? ' (SKIPPED: PostGIS is not installed)' : ''}`,
  async () => {
    const service = await open(major)
    onTestFinished(() => service.close())
    for (const example of new Map(explained).get('geo') ?? []) await run(service, example)
  },
)
