import { readFile, writeFile } from 'node:fs/promises'
import { beforeAll, expect, test } from 'vitest'
import { additionOperations } from '../../bench/blog/additions.ts'
import { addShapes, blogSize, createBlog } from '../../bench/blog/data.ts'
import { operations } from '../../bench/blog/operations.ts'
import { shapes } from '../../bench/shapes/shapes.ts'
import { countsOf, type Counts } from '../../bench/translate/counts.ts'
import { compileOnce, createTranslator, type Translator } from '../../bench/translate/translate.ts'
import { majors } from '../support/database.ts'
import { forSuite } from '../support/for-suite.ts'

/**
 * Statements, parameters and length of the SQL that the benchmarks' documents become: numbers of the compiler and not
 * of the machine. One that changed is to be looked at, and then accepted with UPDATE_GOLDEN=1.
 */
const file = new URL('./translation-counts.json', import.meta.url)
const accept = process.env['UPDATE_GOLDEN'] === '1'
const size = blogSize(0.001)

let translator: Translator
const db = forSuite(createBlog, majors()[0] ?? 18, size)
beforeAll(async () => {
  await addShapes(db)
  translator = createTranslator(await compileOnce(db.ownerUrl), 'authenticated')
})

test('documents of the benchmarks become as much SQL as they did', async () => {
  const asked = [
    ...[...operations, ...additionOperations].map(({ name, document, variables }) => ({
      name,
      document,
      variables: variables(() => 1, size),
    })),
    ...shapes,
  ]
  const counts: Readonly<Record<string, Counts>> = Object.fromEntries(
    asked.map(({ name, document, variables }) => [name, countsOf(translator.translate(document, variables))]),
  )
  if (accept) await writeFile(file, `${JSON.stringify(counts, null, 2)}\n`)
  expect(counts).toEqual(JSON.parse(await readFile(file, 'utf8')))
})
