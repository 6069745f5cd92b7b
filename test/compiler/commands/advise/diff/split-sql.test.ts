import fc from 'fast-check'
import { expect, it } from 'vitest'
import { splitSql } from '../../../../../compiler/commands/advise/diff/script.ts'

const texts = (sql: string): readonly string[] => splitSql(sql).map(({ text }) => text)

it('a text is split at the semicolons that end a statement', () => {
  expect(texts('select 1; select 2;')).toEqual(['select 1', 'select 2'])
  expect(texts(' ; ;\n-- nothing\n/* here /* either */ ; */')).toEqual([])
})

it.each([
  "select 'a;b'",
  "select 'it''s; fine'",
  String.raw`select E'\'; drop'`,
  'select 1 as "a;""b"',
  'do $$ begin perform 1; end $$',
  'do $tag$ begin perform $$;$$; end $tag$',
  'select 1 -- a; b\n + 1',
  'select /* a; /* b; */ c; */ 1',
  'create rule r as on insert to t do also (select 1; select 2)',
  'create function f() returns int begin atomic select 1; select case when true then 1 end; end',
  'select $1, a$b$c',
])('the text %j is one statement', (sql) => {
  expect(texts(`${sql};\nselect 1`)).toEqual([sql, 'select 1'])
})

it('a statement has its line and first word, comments and case aside', () => {
  const [first, second] = splitSql('\n-- one\ncreate /* x */ Index concurrently i on t (a);\n\n\nCommit')
  expect(first).toMatchObject({ line: 3, head: ['CREATE', 'INDEX', 'CONCURRENTLY', 'I', 'ON', 'T'] })
  expect(second).toMatchObject({ line: 6, head: ['COMMIT'] })
})

it('splitting loses nothing but space, comments and semicolons', () => {
  const part = fc.constantFrom('select', "'a;'", '"b;"', '$$;$$', '/*;*/', '--;\n', ';', ' ', '\n', '(', ')', '1')
  fc.assert(
    fc.property(fc.array(part), (parts) => {
      const sql = parts.join('')
      let from = 0
      for (const { text } of splitSql(sql)) {
        const at = sql.indexOf(text, from)
        expect(sql.slice(from, at).replace(/--[^\n]*\n|\/\*;\*\/|[\s;]/g, '')).toBe('')
        from = at + text.length
      }
      expect(sql.slice(from).replace(/--[^\n]*\n|\/\*;\*\/|[\s;]/g, '')).toBe('')
    }),
  )
})
