import { describe, expect, it } from 'vitest'
import { atOnce } from '../../../runtime/lib/steps.ts'
import type { ObjectKind } from '../../../compiler/comments/keys.ts'
import { readComment } from '../../../compiler/comments/settings.ts'
import { catalog, column, domain, enumType, fn, foreignKey, schema, table } from '../../support/catalog-literal.ts'
import { commentKeys } from '../../../compiler/additions/table.ts'
import { annotate, keys } from '../../support/with-additions.ts'

const onTable = (comment: string | null) => {
  const { annotated, diagnostics } = atOnce(annotate(catalog({ relations: [table('posts', undefined, { comment })] })))
  const relation = annotated.relations[0]
  if (relation === undefined) throw new Error('no relation')
  return { ...relation, refusal: annotated.refusals[0]?.message ?? null, diagnostics }
}

const settings = (json: string) => onTable(`@graphql(${json})`).settings
const refusal = (json: string) => onTable(`@graphql(${json})`).refusal

describe('13.1 comments that cannot be read', () => {
  const invalid = '@graphql({name: "x"})'
  const message = 'invalid input syntax for type json'

  it('refuses every request for invalid JSON on any kind of object', () => {
    const posts = table('posts')
    const broken = [
      catalog({ schemas: [schema('public', invalid)] }),
      catalog({ relations: [{ ...posts, comment: invalid }] }),
      catalog({ relations: [table('posts', [column('id', 'int4', { comment: invalid })])] }),
      catalog({ relations: [{ ...posts, foreignKeys: [foreignKey(['id'], 'posts', { comment: invalid })] }] }),
      catalog({ functions: [fn('f', [], 'int4', { comment: invalid })] }),
      catalog({ types: [enumType('mood', ['ok'], invalid)] }),
      catalog({ types: [enumType('mood', ['ok'], invalid, { schema: 'elsewhere' })] }),
    ]
    for (const given of broken) {
      const { annotated, diagnostics } = atOnce(annotate(given))
      expect(annotated.refusals.map((refusal) => refusal.message)).toEqual([message])
      expect(diagnostics.map(({ code, severity }) => [code, severity])).toEqual([['comment-json', 'error']])
    }
  })

  it('does not read the comments of types other than enums', () => {
    expect(
      atOnce(annotate(catalog({ types: [{ ...enumType('d', [], invalid), kind: 'd' }] }))).annotated.refusals,
    ).toEqual([])
  })

  it('names the object, what its comment says, and the fix', () => {
    expect(onTable(invalid).diagnostics).toEqual([
      {
        code: 'comment-json',
        severity: 'error',
        object: 'table public.posts',
        message: 'The comment asks for @graphql({name: "x"}), which is not JSON; every request fails because of it.',
        fix:
          'Write one JSON object with double-quoted keys between "@graphql(" and the last ")" of the comment, ' +
          'and use no other ")" after it.',
      },
    ])
  })

  const prefix = 'Error while loading schema, check comment directives. '

  it.each([
    ['{"primary_key_columns": "account_id"}', `${prefix}invalid type: string "account_id", expected a sequence`],
    ['{"primary_key_columns": [1]}', `${prefix}invalid type: integer \`1\`, expected a string`],
    ['{"primary_key_columns": [null]}', `${prefix}invalid type: null, expected a string`],
    ['{"max_rows": -1}', `${prefix}invalid value: integer \`-1\`, expected u64`],
    ['{"max_rows": 2.5}', 'invalid input syntax for type integer: "2.5"'],
    ['{"max_rows": "many"}', 'invalid input syntax for type integer: "many"'],
    ['{"max_rows": true}', 'invalid input syntax for type integer: "true"'],
    ['{"max_rows": 3000000000}', 'value "3000000000" is out of range for type integer'],
    ['{"description": 5}', `${prefix}invalid type: integer \`5\`, expected a string`],
    ['{"description": false}', `${prefix}invalid type: boolean \`false\`, expected a string`],
    ['{"description": 1.5}', `${prefix}invalid type: floating point \`1.5\`, expected a string`],
    ['{"description": {}}', `${prefix}invalid type: map, expected a string`],
    ['{"description": []}', `${prefix}invalid type: sequence, expected a string`],
    ['{"foreign_keys": {}}', `${prefix}invalid type: map, expected a sequence`],
    ['{"foreign_keys": [{}]}', `${prefix}missing field \`local_columns\``],
    ['{"foreign_keys": [{"local_columns": ["a"]}]}', `${prefix}missing field \`foreign_schema\``],
    [
      '{"foreign_keys": [{"local_columns": ["a"], "foreign_schema": "public"}]}',
      `${prefix}missing field \`foreign_table\``,
    ],
    [
      '{"foreign_keys": [{"local_columns": ["a"], "foreign_schema": "public", "foreign_table": "t"}]}',
      `${prefix}missing field \`foreign_columns\``,
    ],
    ['{"foreign_keys": [{"local_columns": "a"}]}', `${prefix}invalid type: string "a", expected a sequence`],
  ])('refuses every request for %s', (json, expected) => {
    expect(refusal(json)).toBe(expected)
  })

  it('refuses mappings that are not an object of strings', () => {
    const on = (json: string) =>
      atOnce(annotate(catalog({ types: [enumType('m', [], `@graphql(${json})`)] }))).annotated.refusals[0]?.message
    expect(on('{"mappings": "x"}')).toBe(`${prefix}invalid type: string "x", expected a map`)
    expect(on('{"mappings": {"a": 1}}')).toBe(`${prefix}invalid type: integer \`1\`, expected a string`)
  })

  it('answers with invalid JSON before a failing cast before an ill-typed value', () => {
    const ill = table('a', undefined, { comment: '@graphql({"description": 1})' })
    const cast = table('b', undefined, { comment: '@graphql({"max_rows": "x"})' })
    const json = table('c', undefined, { comment: '@graphql(x)' })
    const of = (...relations: (typeof ill)[]) => atOnce(annotate(catalog({ relations }))).annotated.refusals[0]?.message
    expect(of(ill, cast, json)).toBe(message)
    expect(of(ill, cast)).toBe('invalid input syntax for type integer: "x"')
    expect(of(ill)).toContain('expected a string')
    const other = table('d', undefined, { comment: '@graphql({"max_rows": "a"})' })
    expect(of(cast, other)).toBe(of(other, cast))
  })
})

describe('13.2 readings of the keys', () => {
  it('takes only JSON true for inflect_names and introspection', () => {
    const on = (comment: string) =>
      atOnce(annotate(catalog({ schemas: [schema('public', comment)] }))).annotated.schemas[0]
    expect(on('@graphql({"inflect_names": true, "introspection": true})')?.settings).toMatchObject({
      inflect_names: true,
      introspection: true,
      max_rows: null,
      validation: true,
    })
    for (const other of ['"true"', '1', 'null', '{}', 'false']) {
      const read = on(`@graphql({"inflect_names": ${other}, "introspection": ${other}})`)
      expect(read?.settings).toMatchObject({ inflect_names: false, introspection: false })
    }
  })

  it('takes an integer or the text of one for max_rows', () => {
    expect(settings('{"max_rows": 5}').max_rows).toBe(5)
    expect(settings('{"max_rows": " 5 "}').max_rows).toBe(5)
    expect(settings('{"max_rows": 0}').max_rows).toBe(0)
    expect(settings('{"max_rows": null}').max_rows).toBeNull()
  })

  it('takes any scalar as text for name', () => {
    expect(settings('{"name": "X"}').name).toBe('X')
    expect(settings('{"name": 5}').name).toBe('5')
    expect(settings('{"name": true}').name).toBe('true')
    expect(settings('{"name": null}').name).toBeNull()
  })

  it.each(['totalCount', 'aggregate'] as const)('takes true and "true" for %s, and nothing else', (key) => {
    expect(settings(`{"${key}": {"enabled": true}}`)[key]).toBe(true)
    expect(settings(`{"${key}": {"enabled": "true"}}`)[key]).toBe(true)
    for (const other of ['true', '{}', '{"enabled": 1}', '[true]', '{"enabled": "yes"}', 'null']) {
      expect(settings(`{"${key}": ${other}}`)[key]).toBe(false)
    }
  })

  it('keeps validation and root on unless they are disabled', () => {
    expect(settings('{"root": {"enabled": false}}').root).toBe(false)
    for (const other of ['false', '{}', '{"enabled": true}', 'null']) {
      expect(settings(`{"root": ${other}}`).root).toBe(true)
    }
  })

  it('reads a declared foreign key', () => {
    const key = {
      local_columns: ['a'],
      foreign_schema: 'public',
      foreign_table: 't',
      foreign_columns: ['id'],
      local_name: 'x',
    }
    expect(settings(JSON.stringify({ foreign_keys: [key] })).foreign_keys).toEqual([
      {
        localColumns: ['a'],
        foreignSchema: 'public',
        foreignTable: 't',
        foreignColumns: ['id'],
        localName: 'x',
        foreignName: null,
      },
    ])
  })

  it('lets a function describe itself by any scalar', () => {
    const on = (json: string) =>
      atOnce(annotate(catalog({ functions: [fn('f', [], 'int4', { comment: `@graphql(${json})` })] }))).annotated
    expect(on('{"description": 5}').functions[0]?.description).toBe('5')
    expect(on('{"description": 5}').refusals).toEqual([])
  })

  it('reports keys that do not exist, with the nearest one', () => {
    expect(onTable('@graphql({"totalcount": {"enabled": true}})').diagnostics).toEqual([
      {
        code: 'comment-key-unknown',
        severity: 'warning',
        object: 'table public.posts',
        message: 'The comment sets "totalcount", which is no setting; it is ignored.',
        fix: 'Did you mean "totalCount"?',
      },
    ])
  })

  it('reports keys that stand on the wrong kind of object', () => {
    const [diagnostic] = onTable('@graphql({"inflect_names": true})').diagnostics
    expect(diagnostic).toMatchObject({ code: 'comment-key-misplaced', fix: 'Set it in the comment of a schema.' })
  })

  it('reports keys of types that have none, and refuses nothing for them', () => {
    const comment = '@graphql({"domains": {"enabled": true}, "inflect_name": true, "zzzzzz": 1})'
    const domains = [domain('positive', 'int4', { comment }), domain('broken', 'int4', { comment: '@graphql(x)' })]
    const { annotated, diagnostics } = atOnce(annotate(catalog({ types: domains })))
    expect(annotated.refusals).toEqual([])
    expect(diagnostics.map(({ code, object, fix }) => [code, object, fix])).toEqual([
      ['comment-key-misplaced', 'type public.positive', 'Set it in the comment of a schema.'],
      [
        'comment-key-unknown',
        'type public.positive',
        'Did you mean "inflect_names"? Set that in the comment of a schema.',
      ],
      ['comment-key-unknown', 'type public.positive', 'Remove it: objects of this kind have no settings.'],
    ])
  })

  const places = keys.flatMap(({ key, on }) => on.map((kind) => [key, kind] as const))
  const told = (kind: ObjectKind, setting: object) =>
    readComment(commentKeys, kind, () => 'it', `@graphql(${JSON.stringify(setting)})`).diagnostics

  it.each(places)('reports a misspelt %s on a %s, with the right spelling', (key, kind) => {
    for (const wrong of [`${key}s`, key.slice(1), key.toUpperCase()]) {
      const [diagnostic, ...others] = told(kind, { [wrong]: null })
      expect(others).toEqual([])
      expect(diagnostic?.message).toContain(JSON.stringify(wrong))
      expect(diagnostic?.fix).toBe(`Did you mean "${key}"?`)
    }
  })

  it.each(places)('reports a value of %s on a %s that cannot be used', (key, kind) => {
    const isReason = key === 'deprecated' && kind !== 'enum'
    const isText = isReason || ['name', 'foreign_name', 'local_name', 'description', 'softDelete'].includes(key)
    const about = told(kind, { [key]: '\u{1f600} \'";--' }).map(({ message }) => message)
    expect(about.length > 0).toBe(!isText)
    for (const message of about) expect(message).toContain(`The setting "${key}"`)
    expect(told(kind, { [key]: null })).toEqual([])
  })

  it('does not take members of every object for keys', () => {
    const [diagnostic] = onTable('@graphql({"constructor": 1})').diagnostics
    expect(diagnostic?.code).toBe('comment-key-unknown')
    expect(settings('{"__proto__": {"name": "X"}}').name).toBeNull()
  })

  it('knows every key once for each kind of object', () => {
    const places = keys.flatMap(({ key, on }) => on.map((kind) => `${kind} ${key}`))
    expect(new Set(places).size).toBe(places.length)
  })
})

describe('12.4 descriptions', () => {
  it('come from the setting, else from the text around the directive', () => {
    expect(onTable('A post. @graphql({"description": "Set."})').description).toBe('Set.')
    expect(onTable('A post. @graphql({"name": "Post"})').description).toBe('A post.')
    expect(onTable('A post.').description).toBe('A post.')
    expect(onTable('@graphql({"name": "Post"})').description).toBeNull()
    expect(onTable(null).description).toBeNull()
  })

  it('come for columns and functions alike', () => {
    const { annotated } = atOnce(
      annotate(
        catalog({
          relations: [table('posts', [column('id', 'int4', { comment: 'The key.' })])],
          functions: [fn('f', [], 'int4', { comment: 'Does it.' })],
        }),
      ),
    )
    expect(annotated.relations[0]?.columns[0]?.description).toBe('The key.')
    expect(annotated.functions[0]?.description).toBe('Does it.')
  })
})
