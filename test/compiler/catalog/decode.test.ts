import { describe, expect, test } from 'vitest'
import { atOnce } from '../../../runtime/lib/steps.ts'
import { decodeAnswer } from '../../../compiler/catalog/decode.ts'
import { readCatalog } from '../../../compiler/catalog/read.ts'
import { ROWS } from '../../../compiler/catalog/catalog-rows.ts'

const withoutRows = (fields: object): unknown => Object.fromEntries(Object.keys(fields).map((field) => [field, []]))

const facts: Readonly<Record<string, unknown>> = {
  version: null,
  isComplete: true,
  snapshot: '3:3:',
  counter: null,
  server: 'since noon',
  serverVersion: 180004,
  distributes: false,
  databaseOwner: 'postgres',
}
const lists: Readonly<Record<string, unknown>> = Object.fromEntries(
  Object.entries(ROWS).map(([name, fields]) => [name, withoutRows(fields)]),
)
const listNames = Object.keys(ROWS) as (keyof typeof ROWS)[]

const decode = (change: Readonly<Record<string, unknown>>): unknown => {
  const all = { ...lists, ...change }
  return atOnce(
    decodeAnswer([
      ...listNames.map((part) => ({ part, content: JSON.stringify(all[part]) })),
      { part: 'facts' as const, content: JSON.stringify({ ...facts, ...change }) },
    ]),
  )
}

const relation = {
  oid: ['1'],
  hash: ['7'],
  served: [true],
  schema: ['s'],
  name: ['t'],
  kind: ['r'],
  owner: ['o'],
  comment: [null],
  rowSecurity: [false],
  rowType: ['2'],
  inherited: [false],
  acl: ['{}'],
}

describe('decoding the answer', () => {
  test('gives empty lists for an empty database', () => {
    expect(decode({})).toMatchObject({ version: null, serverVersion: 180004, relations: [], types: [] })
  })

  test('an object from whom everything was revoked has no grants', () => {
    expect(decode({ relations: relation })).toMatchObject({
      relations: [{ hash: '7', served: true, object: { name: 't', grants: [], primaryKey: null } }],
    })
  })

  test.each([
    ['version', { version: 1 }, 'version: expected a text, found 1'],
    ['server version', { serverVersion: '18' }, 'serverVersion: expected an integer, found "18"'],
    ['a list', { relations: null }, 'relations: expected an object'],
    ['a field', { relations: { ...relation, name: undefined } }, 'relations.name: expected a list'],
    ['a value', { relations: { ...relation, name: [null] } }, 'relations.name[0]: expected a text, found null'],
    [
      'a word',
      { relations: { ...relation, kind: ['S'] } },
      'relations.kind[0]: expected one of r, p, v, m, f, found "S"',
    ],
    ['a length', { relations: { ...relation, kind: ['r', 'v'] } }, 'relations: its fields differ in length'],
    [
      'a reference',
      {
        relations: relation,
        uniques: {
          relation: ['1'],
          name: ['u'],
          primary: [true],
          arbiter: [true],
          identifying: [true],
          numbers: [[3]],
          parts: [null],
          predicate: [null],
        },
      },
      'column 3 of relation 1 is missing',
    ],
  ])('refuses a wrong shape of %s', (_what, change, message) => {
    expect(() => decode(change)).toThrow(new TypeError(message))
  })

  test('passes on the refusal of the database', async () => {
    const refused = Object.assign(new Error('permission denied'), { code: '42501' })
    const read = readCatalog(() => Promise.reject(refused), { schemas: [], version: null })
    await expect(read).rejects.toBe(refused)
  })
})
