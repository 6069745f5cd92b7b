import { expect, it } from 'vitest'
import fc from 'fast-check'
import { enclosed, expressionProblem } from '../../../compiler/comments/expressions.ts'
import { parseApart, treeApart } from '../../../compiler/emit/parse-apart.ts'

const problemOf = (text: string): Promise<string | null> => expressionProblem(treeApart, text)

it.each([
  'auth.uid()',
  "'it; stays (here)'",
  'null',
  "current_setting('app.x', true)::int + 1",
  '(select max(p.id) from public.post p where p.author = auth.uid())',
  'case when random() < 0.5 then 1 else 2 end',
  'now() -- the moment',
  'array[1, 2]',
  'select 1',
])('an expression may be %j', async (text) => {
  expect(await problemOf(text)).toBeNull()
})

it.each([
  ['', 'not exactly one expression'],
  ['1), (2', 'not exactly one expression'],
  ['1, 2', 'not exactly one expression'],
  ['1) from note where (true', 'not exactly one expression'],
  ['1) union select (2', 'not exactly one expression'],
  ['1); drop table note; --', 'not exactly one expression'],
  ['1) as x, (2', 'not exactly one expression'],
  ['1) /* ', 'not exactly one expression'],
  ['*', 'not exactly one expression'],
  ['default', 'DEFAULT'],
  ['views + 1', 'names a column'],
  ['excluded.views', 'names a column'],
  ['views in (select 1)', 'names a column'],
  ['$1', 'parameter'],
  ['(select $2)', 'parameter'],
  [`'${'x'.repeat(1_000)}'`, 'longer than'],
])('an expression cannot be %j', async (text, reason) => {
  expect(await problemOf(text)).toContain(reason)
})

it('an expression leaves every statement that it is a part of one statement', async () => {
  const piece = fc.constantFrom(
    '1',
    ')',
    '(',
    ';',
    "'",
    '"',
    '--',
    '/*',
    '*/',
    '\n',
    ' ',
    ',',
    'select',
    'from t',
    '$$',
    'f(1)',
    '||',
  )
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 6 }), async (pieces) => {
      const text = pieces.join('')
      if ((await problemOf(text)) !== null) return
      expect(
        await parseApart(`insert into t (a, b) values (${enclosed(text)}, ${enclosed(text)}) returning a`),
      ).toBeNull()
    }),
    { numRuns: 60 },
  )
})
