import { randomUUID } from 'node:crypto'

/** Documents that take long to read, or to refuse. They are about the table of `hostileSql`. */

export const hostileSql = `
  comment on schema public is '@graphql({"introspection": true})';
  create table notes (id int primary key, body text, tags text[], about jsonb, parent_id int references notes);
  -- Many rows are deleted again, and each is looked for among the parents.
  create index on notes (parent_id);
  insert into notes values (1, 'one', '{}', '{}', null), (2, 'two', '{a}', '[1]', 1);
  grant usage on schema public to anon;
  grant all on notes to anon;
`

export interface Hostile {
  readonly query: string
  readonly operationName?: string
  readonly variables?: Readonly<Record<string, unknown>>
}

const times = (count: number, make: (index: number) => string, joint = ' '): string =>
  Array.from({ length: count }, (_, index) => make(index)).join(joint)

const list = <T>(count: number, make: (index: number) => T): readonly T[] =>
  Array.from({ length: count }, (_, index) => make(index))

const notes = 'notesCollection{edges{node{id}}}'
const filtered = (filter: string): string => `{notesCollection(filter:${filter}){edges{node{id}}}}`
const byFilter = 'query($f:notesFilter){notesCollection(filter:$f){edges{node{id}}}}'

/** Each level selects twice what the level below does. */
const bomb = (levels: number): string =>
  `{notesByPk(id:1){...F0}}${times(levels, (index) => `fragment F${index} on notes{a:parent{...F${index + 1}} b:parent{...F${index + 1}}}`)}fragment F${levels} on notes{id}`

const cursor = (bytes: number): string => Buffer.from(`[${'1,'.repeat(bytes / 2)}1]`).toString('base64')

/**
 * Each is made when it is asked for.
 * @param scale 1: as large as a body may be, but for a little
 */
export const hostileDocuments = (scale: number): Readonly<Record<string, () => Hostile>> => {
  const of = (count: number): number => Math.max(2, Math.round(count * scale))
  return {
    'selections repeated': () => ({ query: `{${times(of(20_000), () => notes)}}` }),
    'selections repeated below': () => ({
      query: `{notesCollection{edges{node{${times(of(20_000), () => 'id body')}}}}}`,
    }),
    'repeated after many': () => ({
      query: `{${times(of(12_000), (index) => `a${index}:__typename`)} ${times(of(15_000), () => notes)}}`,
    }),
    'repeated by fragments': () => ({
      query: `{notesCollection{${times(of(15_000), (index) => `...F${index}`)}}}${times(of(15_000), (index) => `fragment F${index} on notesConnection{__typename}`)}`,
    }),
    'repeated 300 times': () => ({ query: `{${times(of(300), () => notes)}}` }),
    'a chain of fragments': () => ({
      query: `{notesCollection{...F0}}${times(of(400), (index) => `fragment F${index} on notesConnection{__typename ...F${index + 1}}`)}fragment F${of(400)} on notesConnection{__typename}`,
    }),
    'operations and fragments': () => ({
      query: `${times(of(9_000), (index) => `query Q${index}{notesCollection{...F${index}}}`)}${times(of(9_000), (index) => `fragment F${index} on notesConnection{__typename}`)}`,
      operationName: 'Q1',
    }),
    aliases: () => ({ query: `{${times(of(20_000), (index) => `a${index}:${notes}`)}}` }),
    'aliases of a name': () => ({ query: `{${times(of(50_000), (index) => `a${index}:__typename`)}}` }),
    'unknown fields': () => ({ query: `{${times(of(100_000), (index) => `x${index}`)}}` }),
    conditions: () => ({ query: filtered(`{or:[${times(of(60_000), () => '{id:{eq:1}}', ',')}]}`) }),
    values: () => ({ query: filtered(`{id:{in:[${times(of(60_000), (index) => `${index}`, ',')}]}}`) }),
    directives: () => ({ query: `{__typename ${'@a'.repeat(of(300_000))}}` }),
    variables: () => ({ query: `query(${times(of(60_000), (index) => `$v${index}:Int`)}){__typename}` }),
    'a deep type': () => ({ query: `query($a:${'['.repeat(of(300_000))}Int${']'.repeat(of(300_000))}){__typename}` }),
    'a deep list': () => ({ query: filtered(`{id:{in:${'['.repeat(of(400_000))}`) }),
    'a deep object': () => ({ query: filtered('{not:'.repeat(of(200_000))) }),
    'deep selections': () => ({ query: '{a'.repeat(of(500_000)) }),
    'deep inline fragments': () => ({ query: `{${'...{'.repeat(of(250_000))}` }),
    'a long text': () => ({ query: filtered(`{body:{eq:"${'a'.repeat(of(1_000_000))}"}}`) }),
    'a long block': () => ({ query: filtered(`{body:{eq:"""${' \n'.repeat(of(340_000))}"""}}`) }),
    'a long comment': () => ({ query: `{__typename}#${'#'.repeat(of(1_000_000))}` }),
    comments: () => ({ query: `${'#\n'.repeat(of(340_000))}{__typename}` }),
    blanks: () => ({ query: `${', '.repeat(of(500_000))}{__typename}` }),
    'a bomb of fragments': () => ({ query: bomb(15) }),
    'many changes': () => ({
      query: `mutation{${times(of(12_000), (index) => `a${index}:deleteFromnotesCollection(filter:{id:{eq:-1}}){affectedCount}`)}}`,
    }),
    'a long cursor': () => ({ query: `{notesCollection(after:"${cursor(of(700_000))}"){edges{cursor}}}` }),
    'a long cursor in a variable': () => ({
      query: 'query($c:Cursor){notesCollection(after:$c){edges{cursor}}}',
      variables: { c: cursor(of(700_000)) },
    }),
    'a variable in many places': () => ({
      query: `query($f:notesFilter){${times(of(200), (index) => `a${index}:notesCollection(filter:$f){edges{cursor}}`)}}`,
      variables: { f: { or: list(of(300), () => ({ id: { eq: 1 } })) } },
    }),
    introspection: () => ({
      query: '{__schema{types{name fields{name args{name type{name}} type{name ofType{name}}} inputFields{name}}}}',
    }),
    'values in a variable': () => ({
      query: byFilter,
      variables: { f: { id: { in: list(of(60_000), (index) => index) } } },
    }),
    'texts in a variable': () => ({
      query: byFilter,
      variables: { f: { body: { in: list(of(20_000), () => randomUUID()) } } },
    }),
    'conditions in a variable': () => ({
      query: byFilter,
      variables: { f: { or: list(of(60_000), () => ({ id: { eq: 1 } })) } },
    }),
    'long numbers in a variable': () => ({
      query: byFilter,
      variables: { f: { id: { in: list(of(50_000), () => '@1234567890123456@') } } },
    }),
    rows: () => ({
      query: 'mutation($o:[notesInsertInput!]!){insertIntonotesCollection(objects:$o){affectedCount}}',
      variables: { o: list(of(25_000), (index) => ({ id: index + 10, body: `note ${index}` })) },
    }),
    'empty objects in a variable': () => ({
      query: byFilter,
      variables: { f: { and: list(of(300_000), () => ({})) } },
    }),
    'a deep variable': () => ({ query: byFilter, variables: { f: '@deep@' } }),
  }
}

/** The body of a request, with the numbers that JavaScript cannot write. */
export const bodyOf = ({ query, operationName, variables }: Hostile): string =>
  JSON.stringify({ query, operationName, variables })
    .replaceAll(/"@(\d+)@"/g, '$1')
    .replace('"@deep@"', () => `${'['.repeat(250_000)}${']'.repeat(250_000)}`)
