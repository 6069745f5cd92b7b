import fc from 'fast-check'
import { expect, it } from 'vitest'
import { MigrationFailure, readScript, splitSql } from '../../../../../compiler/commands/advise/diff/script.ts'

type Files = Readonly<Record<string, string>>

const read = async (files: Files): Promise<readonly string[]> => {
  const source = {
    read: async (path: string) => files[path] ?? Promise.reject(new Error(`${path} is not there`)),
    database: 'app',
  }
  const statements = await readScript('main.sql', source)
  return statements.map(({ file, line, text }) => `${file}:${line} ${text}`)
}

it.each([
  String.raw`\set ON_ERROR_STOP 1`,
  String.raw`\unset ECHO`,
  String.raw`\restrict Zk3dX`,
  String.raw`\unrestrict Zk3dX`,
  String.raw`\echo 'it''s; done'`,
  String.raw`\connect -`,
  String.raw`\c app`,
  String.raw`\timing on`,
])('a script passes %s over', async (line) => {
  expect(await read({ 'main.sql': `${line}\nselect 1;\n${line}\n` })).toEqual(['main.sql:2 select 1'])
})

it('a script puts the statements of other files in their place, until one says that it is over', async () => {
  const files = {
    'main.sql': 'select 1;\n\\i sub/one.sql\nselect 4;',
    'sub/one.sql': "select 2;\n\\ir two.sql\n\\q\nselect 'never';",
    'sub/two.sql': '-- three\nselect 3',
  }
  expect(await read(files)).toEqual([
    'main.sql:1 select 1',
    'sub/one.sql:1 select 2',
    'sub/two.sql:2 select 3',
    'main.sql:3 select 4',
  ])
})

it.each([
  [String.raw`\connect other`, '\\connect other would leave the database app'],
  [String.raw`\set version 3`, '\\set version is a variable of psql'],
  [String.raw`\copy t from x.csv`, '\\copy is a command of psql that has no meaning here'],
  [String.raw`\! rm -rf /`, '\\! is a command of psql that has no meaning here'],
  [String.raw`\i`, '\\i names no file'],
])('a script may not hold %s', async (line, why) => {
  const reading = read({ 'main.sql': `select 1;\n${line}` })
  await expect(reading).rejects.toThrow(why)
  await expect(reading).rejects.toMatchObject({ place: { file: 'main.sql', line: 2 } })
})

it('files that include each other are refused', async () => {
  await expect(read({ 'main.sql': '\\i main.sql' })).rejects.toBeInstanceOf(MigrationFailure)
})

it('backslashes within statements stay', () => {
  const part = fc.constantFrom("'a\\b'", '"c\\d"', "E'\\\\'", '$$\\e$$', '/*\n\\f*/', '1', '+', ' ')
  fc.assert(
    fc.property(fc.array(part), (parts) => {
      const sql = `select ${parts.join(' ')} 1`
      expect(splitSql(`${sql};\n\\echo x\n`).map(({ text }) => text)).toEqual([sql, '\\echo x'])
    }),
  )
})
