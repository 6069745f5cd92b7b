import { describe, expect, it } from 'vitest'
import { createEmitter } from '../../../compiler/emit/emit.ts'
import { entitySamples } from '../../../compiler/emit/samples.ts'
import { gaveUp, startParser } from '../../../compiler/emit/parse-apart.ts'
import { createSqlParser, isUnparsed, statementShape } from '../../../compiler/emit/sql-parser.ts'
import { builderOf, column, entity, model } from './models.ts'

describe('statement shapes', () => {
  it('are equal when only names and strings differ', () => {
    expect(statementShape(`select "a", 'x' from "b"`)).toBe(statementShape(`select "c""d", 'it''s' from "e"`))
  })

  it.each([
    'select "a""',
    "select 'a''",
    'select "a" -- "b"',
    'select /* " */ 1',
    'select $x$ " $x$',
    'select ""',
    "select 'a\\'",
  ])('are the text itself when quotes may be cut elsewhere: %s', (sql) => expect(statementShape(sql)).toBe(sql))

  it('do not grow with the columns of a table', async () => {
    const wide = (count: number): ReturnType<typeof builderOf> =>
      builderOf(entity('public', 't', { columns: Array.from({ length: count }, (_, index) => column(`c${index}`)) }))
    const shapes = (count: number): readonly string[] => [
      ...new Set(entitySamples(wide(count)).map(({ sql }) => statementShape(sql))),
    ]
    expect(shapes(1_600)).toEqual(shapes(40))
    const emitted = await createEmitter()(
      model([entity('public', 't', { columns: Array.from({ length: 1_600 }, (_, index) => column(`c${index}`)) })]),
      null,
    )
    expect(emitted.diagnostics).toEqual([])
  })

  it('do not grow with the labels of an enum', () => {
    const when = ` when 'a' then 'b'`
    expect(statementShape(`case x${when.repeat(5_000)} else y end`).length).toBeLessThan(60)
  })
})

describe('the parser', () => {
  const parse = createSqlParser()

  it('reports a text that is not one statement', async () => {
    expect(await parse('select 1')).toBeNull()
    expect(await parse('select 1; select 2')).toBe('2 statements instead of one')
    expect(await parse('selct 1')).toMatch(/syntax error/)
    expect(await parse(`select $a$${'x'.repeat(50_000)}$a$`)).toMatch(/too long/)
    expect(await parse('')).toBe('0 statements instead of one')
    expect(await parse('select "a\0b"')).toMatch(/NUL/)
  })

  it('stays right beyond what one instance survives', async () => {
    for (let index = 0; index < 400; index++) {
      expect(await parse(`select ${Array.from({ length: 40 }, (_, at) => `c${index}_${at}`).join(', ')}`)).toBeNull()
    }
    expect(await parse('select from where x')).toMatch(/syntax error/)
  })

  it('answers each of many who ask at once', async () => {
    const counts = Array.from({ length: 30 }, (_, index) => (index % 3) + 1)
    const problems = await Promise.all(
      counts.map((count) => parse(Array.from({ length: count }, () => 'select 2').join(';'))),
    )
    expect(problems).toEqual(counts.map((count) => (count === 1 ? null : `${count} statements instead of one`)))
  })

  it('is a process of its own: when that ends, what it was asked is unchecked, and the next one answers again', async () => {
    const asked = parse('select 3')
    startParser().child.kill('SIGKILL')
    expect(await asked).toBe(gaveUp)
    expect(isUnparsed(gaveUp)).toBe(true)
    expect(await parse('select 3')).toBeNull()
  })
})
