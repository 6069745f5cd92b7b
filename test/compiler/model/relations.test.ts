import { describe, expect, it } from 'vitest'
import { column, foreignKey, schema, table, view } from '../../support/catalog-literal.ts'
import { build, type Built } from './build.ts'

const id = column('id', 'int4', { notNull: true })
const inflected = [schema('public', '@graphql({"inflect_names": true})')]

const fields = (built: Built, relation: string) => built.entity(relation).relations.map((item) => item.field)

describe('13.2 foreign keys by comment', () => {
  const key = {
    local_columns: ['holder_id'],
    foreign_schema: 'public',
    foreign_table: 'account_holder',
    foreign_columns: ['id'],
  }
  const declared = (entries: readonly object[], over: Parameters<typeof table>[2] = {}, notNull = false) =>
    build({
      schemas: inflected,
      relations: [
        table('account_holder', [id, column('code')]),
        view('overview', [column('holder_id', 'int4', { notNull })], {
          comment: `@graphql(${JSON.stringify({ primary_key_columns: ['holder_id'], foreign_keys: entries })})`,
          ...over,
        }),
      ],
    })

  it.each([
    { ...key, foreign_table: 'nope' },
    { ...key, foreign_schema: 'nope' },
    { ...key, foreign_columns: ['nope'] },
    { ...key, local_columns: ['nope'] },
    { ...key, foreign_columns: ['id', 'code'] },
    { ...key, local_columns: [], foreign_columns: [] },
  ])('skip an entry that names what does not exist, and report it: %o', (entry) => {
    const built = declared([entry, key])
    expect(fields(built, 'overview')).toEqual(['holder'])
    expect(built.diagnostics).toMatchObject([{ code: 'foreign-key-unknown', object: 'view public.overview' }])
  })

  it('stand behind the constraints', () => {
    const built = build({
      relations: [
        table('a', [id, column('x')], {
          foreignKeys: [
            foreignKey(['x'], 'a', { comment: '@graphql({"foreign_name": "second", "local_name": "r2"})' }),
          ],
          comment:
            '@graphql({"foreign_keys": [{"local_columns": ["x"], "foreign_schema": "public", "foreign_table": "a", ' +
            '"foreign_columns": ["id"], "foreign_name": "third", "local_name": "r3"}]})',
        }),
      ],
    })
    expect(fields(built, 'a')).toEqual(['second', 'third', 'r2', 'r3'])
  })
})
