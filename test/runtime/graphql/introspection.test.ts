import {
  buildClientSchema,
  getIntrospectionQuery,
  printSchema,
  type GraphQLSchema,
  type IntrospectionQuery,
  type IntrospectionType,
} from 'graphql'
import { beforeAll, describe, expect, it, onTestFinished, test } from 'vitest'
import { buildView } from '../../../compiler/additions/engine.ts'
import { dataOf, messagesOf } from '../../support/answers.ts'
import { introspect, namesOf, scalarNames } from '../../support/api-schema.ts'
import { forSuite } from '../../support/for-suite.ts'
import { createTestService, type AskOptions } from '../../support/service.ts'

const sql = `
  comment on schema public is '@graphql({"introspection": true, "inflect_names": true})';
  create schema quiet;
  comment on schema quiet is '@graphql({"inflect_names": true})';
  create type plan as enum ('free', 'pro');
  create type quiet.tone as enum ('low', 'high');
  create table account (id int primary key, email text, plan plan, tone quiet.tone, tones quiet.tone[]);
  comment on table account is 'People. @graphql({"totalCount": {"enabled": true}, "aggregate": {"enabled": true}})';
  comment on column account.email is '@graphql({"description": "Where to write to."})';
  create table post (id int primary key, account_id int references account);
  create table quiet.note (id int primary key, account_id int references public.account, tone quiet.tone);
  create table by_tone (tone quiet.tone primary key, body text);
  create table quiet.log (id int primary key);
  create table quiet.doubled (id int primary key, hidden int);
  create table quiet.post (id int primary key);
  create function add(a int, b int default 2) returns int stable language sql as 'select a + b';
  comment on function add is 'Adds two numbers.';
  create function change(a int) returns int language sql as 'select a';
  create function quiet.whisper() returns int stable language sql as 'select 1';
  create function quiet.accounts() returns setof public.account stable language sql as 'select * from public.account';
  create function notes() returns setof quiet.note stable language sql as 'select * from quiet.note';
  create function latest_note(account) returns quiet.note stable language sql as 'select * from quiet.note limit 1';
  insert into account values (1, 'a@x.io', 'free', 'low', '{high}');
  insert into quiet.note values (1, 1, 'high');
  insert into by_tone values ('low', 'deep');
  grant usage on schema public, quiet to anon, authenticated;
  grant all on all tables in schema public, quiet to anon;
  grant select on account to authenticated;
`

let schema: GraphQLSchema
const ask = async (query: string, options?: AskOptions) => dataOf(await service.graphql(query, options))
const refused = async (query: string, options?: AskOptions) => messagesOf(await service.graphql(query, options))

const service = forSuite(createTestService, { sql, schemas: ['quiet', 'public'] })
beforeAll(async () => {
  schema = await introspect(service)
})

describe('12.1 the switch', () => {
  it('is off by default; __typename works all the same', async () => {
    const off = await createTestService({
      sql: 'create table t (id int primary key); grant usage on schema public to anon; grant select on t to anon',
    })
    const disabled = (name: string): string =>
      `GraphQL introspection has been disabled, but the requested query contained the field "${name}".`
    onTestFinished(() => off.close())
    expect(await off.graphql('{ __schema { description } }')).toMatchObject({
      data: null,
      errors: [{ message: disabled('__schema') }],
    })
    expect(await off.graphql('{ __type(name: "t") { name } }')).toMatchObject({
      data: null,
      errors: [{ message: disabled('__type') }],
    })
    expect((await off.graphql('{ tCollection { edges { node { id } } } __schema { description } }')).data).toBeNull()
    expect(await off.graphql('{ __typename tCollection { __typename pageInfo { __typename } } }')).toEqual({
      data: { __typename: 'Query', tCollection: { __typename: 'tConnection', pageInfo: { __typename: 'PageInfo' } } },
    })
    for (const value of ['"true"', '1', '{"enabled": true}', 'false', 'null']) {
      await off.db.query(`comment on schema public is '@graphql({"introspection": ${value}})'`)
      expect((await off.graphql('{ __type(name: "t") { name } }')).errors).toMatchObject([
        { message: disabled('__type') },
      ])
    }
    await off.db.query(`comment on schema public is '@graphql({"introspection": true})'`)
    expect(await off.graphql('{ __type(name: "t") { name } }')).toEqual({ data: { __type: { name: 't' } } })
  })
  it('hides the types of schemas that did not opt in', async () => {
    const names = Object.keys(schema.getTypeMap())
    for (const name of ['Note', 'NoteConnection', 'NoteFilter', 'Log', 'LogInsertInput', 'Doubled'])
      expect(names).not.toContain(name)
    expect(names).toEqual(expect.arrayContaining(['Account', 'Plan', 'ByTone']))
    expect(await ask('{ note: __type(name: "Note") { name } nothing: __type(name: "Nothing") { name } }')).toEqual({
      note: null,
      nothing: null,
    })
  })
  it('hides fields that lead there: collections, keys, relations, enum columns, mutations, functions', () => {
    expect(namesOf(schema, 'Query')).toEqual([
      'accountByPk',
      'accountCollection',
      'add',
      'byToneByPk',
      'byToneCollection',
      'node',
    ])
    expect(namesOf(schema, 'Account')).toEqual(['nodeId', 'id', 'email', 'plan'])
    expect(namesOf(schema, 'Mutation').filter((name) => /Note|Log|Doubled/.test(name))).toEqual([])
  })
  it('hides no arguments and no inputs', () => {
    expect(namesOf(schema, 'AccountInsertInput')).toEqual(['id', 'email', 'plan', 'tone', 'tones'])
    expect(namesOf(schema, 'AccountFilter')).toEqual(['id', 'email', 'plan', 'tone', 'nodeId', 'and', 'or', 'not'])
    expect(
      schema
        .getQueryType()
        ?.getFields()
        ['byToneByPk']?.args.map(({ name, type }) => `${name}: ${type}`),
    ).toEqual(['tone: Tone!'])
  })
  it('gives no name to another object than the one that has it', async () => {
    // Both schemas have a post; the first served one is quiet's, which introspection does not show.
    expect(schema.getType('Post')).toBeUndefined()
    expect(namesOf(schema, 'Query')).not.toContain('postCollection')
  })
  it('changes nothing for data', async () => {
    expect(
      await ask(
        '{ noteByPk(id: 1) { tone account { tone tones latestNote { id } noteCollection { edges { node { id } } } } } whisper byToneByPk(tone: low) { body tone } notes { edges { node { id } } } }',
      ),
    ).toEqual({
      noteByPk: {
        tone: 'high',
        account: {
          tone: 'low',
          tones: ['high'],
          latestNote: { id: 1 },
          noteCollection: { edges: [{ node: { id: 1 } }] },
        },
      },
      whisper: 1,
      byToneByPk: { body: 'deep', tone: 'low' },
      notes: { edges: [{ node: { id: 1 } }] },
    })
  })
  it('shows a role what that role may see, and never rows', async () => {
    const seen = await introspect(service, { role: 'authenticated' })
    expect(seen.getMutationType()?.getFields()).toMatchObject({ change: expect.anything() })
    expect(Object.keys(seen.getMutationType()?.getFields() ?? {})).toEqual(['change'])
    expect(namesOf(seen, 'Query')).toEqual(['accountByPk', 'accountCollection', 'add', 'node'])
  })
})

describe('12.2 content and order', () => {
  it('lists types by name in byte order, the introspection types last', async () => {
    const { __schema } = await ask(
      '{ __schema { types { name } queryType { name } mutationType { name } subscriptionType { name } } }',
    )
    const names: readonly string[] = __schema.types.map((type: { name: string }) => type.name)
    expect(names).toEqual([...names].sort())
    expect(names.slice(-8)).toEqual([
      '__Directive',
      '__DirectiveLocation',
      '__EnumValue',
      '__Field',
      '__InputValue',
      '__Schema',
      '__Type',
      '__TypeKind',
    ])
    expect(__schema).toMatchObject({
      queryType: { name: 'Query' },
      mutationType: { name: 'Mutation' },
      subscriptionType: null,
    })
  })
  it('covers all scalars, filters and shared types, used or not', () => {
    const expected = [
      ...scalarNames,
      ...'Int Float BigInt BigFloat Date Time Datetime String UUID Boolean Opaque ID'
        .split(' ')
        .map((name) => `${name}Filter`),
      ...['Int', 'Float', 'String', 'Boolean', 'UUID', 'BigInt', 'BigFloat', 'Time', 'Date', 'Datetime'].map(
        (name) => `${name}ListFilter`,
      ),
      'FilterIs',
      'OrderByDirection',
      'PageInfo',
      'Node',
      'Query',
      'Mutation',
      'Plan',
      'PlanFilter',
    ]
    expect(Object.keys(schema.getTypeMap())).toEqual(expect.arrayContaining(expected))
  })
  it('keeps __type and __schema out of the fields of Query', () => {
    expect(namesOf(schema, 'Query').filter((name) => name.startsWith('__'))).toEqual([])
  })
  it('offers exactly include and skip', async () => {
    const { __schema } = await ask(
      '{ __schema { directives { name locations isRepeatable args { name type { kind ofType { name } } } } } }',
    )
    const directive = (name: string) => ({
      name,
      locations: ['FIELD', 'FRAGMENT_SPREAD', 'INLINE_FRAGMENT'],
      isRepeatable: false,
      args: [{ name: 'if', type: { kind: 'NON_NULL', ofType: { name: 'Boolean' } } }],
    })
    expect(__schema.directives).toEqual([directive('include'), directive('skip')])
  })
})

describe('12.3 conformance', () => {
  const query = getIntrospectionQuery({
    schemaDescription: true,
    specifiedByUrl: true,
    directiveIsRepeatable: true,
    inputValueDeprecation: true,
  })
  it('builds a client schema by the standard query that prints as the SDL', async () => {
    const all = await createTestService({
      sql: sql.replace(`quiet is '@graphql({`, `quiet is '@graphql({"introspection": true, `),
      schemas: ['public', 'quiet'],
    })
    onTestFinished(() => all.close())
    for (const role of ['anon', 'authenticated', 'service_role']) {
      const client = buildClientSchema(dataOf(await all.graphql(query, { role })) as IntrospectionQuery)
      expect(printSchema(client)).toBe(printSchema(buildView((await all.revision()).manifest, role).complete()))
    }
  })
  it('names the introspection types', async () => {
    expect(await ask('{ __type(name: "Account") { __typename name kind } __schema { __typename } }')).toEqual({
      __type: { __typename: '__Type', name: 'Account', kind: 'OBJECT' },
      __schema: { __typename: '__Schema' },
    })
  })
  it('knows includeDeprecated, interfaces, possible types, and types of types', async () => {
    expect(
      await ask(`{
      account: __type(name: "Account") { interfaces { name } possibleTypes { name } fields(includeDeprecated: true) { name isDeprecated deprecationReason } }
      node: __type(name: "Node") { kind possibleTypes { name } }
      plan: __type(name: "Plan") { enumValues(includeDeprecated: true) { name isDeprecated } }
      meta: __type(name: "__Type") { kind name }
    }`),
    ).toMatchObject({
      account: {
        interfaces: [{ name: 'Node' }],
        possibleTypes: null,
        fields: [{ name: 'nodeId', isDeprecated: false, deprecationReason: null }, {}, {}, {}],
      },
      node: { kind: 'INTERFACE', possibleTypes: [{ name: 'Account' }, { name: 'ByTone' }] },
      plan: {
        enumValues: [
          { name: 'free', isDeprecated: false },
          { name: 'pro', isDeprecated: false },
        ],
      },
      meta: { kind: 'OBJECT', name: '__Type' },
    })
  })
  it('takes variables, fragments, directives and aliases, beside other fields', async () => {
    const text = `query ($name: String!, $yes: Boolean!, $id: Int!) {
      accountByPk(id: $id) { email }
      t: __type(name: $name) { ...Names fields @skip(if: $yes) { name } kind @include(if: $yes) }
    } fragment Names on __Type { name }`
    expect(await ask(text, { variables: { name: 'Post', yes: true, id: 1 } })).toEqual({
      accountByPk: { email: 'a@x.io' },
      t: null,
    })
    expect(await ask(text, { variables: { name: 'Plan', yes: true, id: 1 } })).toEqual({
      accountByPk: { email: 'a@x.io' },
      t: { name: 'Plan', kind: 'ENUM' },
    })
    expect(await ask(text, { variables: { name: 'Plan', yes: false, id: 1 } })).toEqual({
      accountByPk: { email: 'a@x.io' },
      t: { name: 'Plan', fields: null },
    })
  })
  it('stands in a mutation too, as __typename does', async () => {
    expect(await ask('mutation { __typename change(a: 3) }')).toEqual({ __typename: 'Mutation', change: 3 })
  })
  it('refuses wrong introspection in the reference words', async () => {
    expect(await refused('{ __type { name } }')).toEqual([
      'Field "__type" argument "name" of type "String!" is required, but it was not provided.',
    ])
    expect(await refused('{ __schema { nothing } }')).toEqual(['Cannot query field "nothing" on type "__Schema".'])
  })
})

describe('12.4 descriptions', () => {
  const undescribed = (types: readonly IntrospectionType[]): readonly string[] =>
    types.flatMap((type) => {
      const members = [
        ...('fields' in type && type.fields
          ? type.fields.flatMap((field) => [
              [field.name, field.description],
              ...field.args.map((arg) => [`${field.name}.${arg.name}`, arg.description]),
            ])
          : []),
        ...('inputFields' in type && type.inputFields
          ? type.inputFields.map((field) => [field.name, field.description])
          : []),
        ...('enumValues' in type && type.enumValues && !['Plan', 'Tone'].includes(type.name)
          ? type.enumValues.map((value) => [value.name, value.description])
          : []),
      ]
      return [[type.name, type.description], ...members.map(([name, text]) => [`${type.name}.${name}`, text])].flatMap(
        ([name, text]) => (typeof text === 'string' && text.trim() !== '' ? [] : [String(name)]),
      )
    })

  it('everything that is generated has one', async () => {
    const { __schema } = await ask(getIntrospectionQuery({ schemaDescription: true }))
    expect(undescribed(__schema.types.filter((type: IntrospectionType) => !type.name.startsWith('__')))).toEqual([])
    expect(__schema.description).toMatch(/./)
  })
  const texts = [
    ['Account', 'People.'],
    ['Account.email', 'Where to write to.'],
    ['Query.add', 'Adds two numbers.'],
  ] as const
  test.each(texts)('%s is described by its owner', (place, text) => {
    const [type = '', field] = place.split('.')
    const found = schema.getType(type)
    const described = field === undefined ? found : found && 'getFields' in found ? found.getFields()[field] : undefined
    expect(described?.description).toBe(text)
  })
})
