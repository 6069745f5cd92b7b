import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { createCompiler } from '../../../../compiler/compile.ts'
import {
  compileDocuments,
  documentTasks,
  type ExampledDocument,
  nothingEarlier,
} from '../../../../compiler/commands/compiled/compile-documents.ts'
import type { Manifest } from '../../../../runtime/contract/manifest.ts'
import type { Revision } from '../../../../runtime/contract/artifact.ts'
import { makeApart, makeNext, makeTogether, noneTaken } from '../../../../compiler/commands/compiled/together.ts'
import { createEngine } from '../../../../compiler/additions/engine.ts'
import { documentsIndex, type DocumentsIndex } from '../../../../runtime/graphql/compiled/format.ts'
import { createDatabase } from '../../../support/database.ts'
import { sized } from '../../../support/whole.ts'

/** Roles that see the same of what a document asks for share what was compiled, and nothing shows it. */

const roles = ['a', 'b', 'c'] as const

let revision: Revision
beforeAll(async () => {
  const db = await createDatabase({
    sql: `
      create role a; create role b; create role c;
      create type mood as enum ('good', 'bad');
      create table author (id int primary key, name text, rank mood, secret text);
      create table post (id int primary key, title text, author_id int references author, gone timestamptz);
      create table note (id int primary key, post_id int references post, body text, owner text);
      create table tag (id int primary key, label text unique);
      create function shout(word text) returns text language sql stable as 'select upper($1)';
      create function double(n int) returns int language sql volatile as 'select n * 2';
      create function initial(author) returns text language sql stable as 'select left($1.name, 1)';
      comment on schema public is '@graphql({"updates": {"enabled": true}, "uniqueKeys": {"enabled": true}, "interfaces": {"enabled": true}})';
      comment on table note is '@graphql({"interfaces": ["Titled"]})';
      grant all on all tables in schema public to a, b, c;
      grant execute on all functions in schema public to a, b, c`,
  })
  try {
    const compiler = createCompiler({ query: db.query as never, schemas: ['public'], version: null })
    revision = (await compiler.compile()).revision
  } finally {
    await db.drop()
  }
})

const texts = [
  'query One($id: Int!) { authorByPk(id: $id) { id name } }',
  'query Rank($rank: mood) { authorCollection(filter: {rank: {eq: $rank}}) { edges { node { name rank } } } }',
  'query Deep { postCollection(first: 3) { edges { node { title author { name } noteCollection { edges { node { body } } } } } } }',
  'query Page($n: Int, $f: noteFilter, $o: [noteOrderBy!]) { noteCollection(first: $n, filter: $f, orderBy: $o) { edges { cursor node { id } } } }',
  'query Shout { shout(word: "x") authorCollection { edges { node { initial } } } }',
  'query Row($node: ID!) { node(nodeId: $node) { nodeId ... on post { title } ... on note { body } } }',
  'query Tag($label: String!) { tagByLabel(label: $label) { id } }',
  'mutation Add($rows: [noteInsertInput!]!) { insertIntonoteCollection(objects: $rows) { affectedCount records { id body } } }',
  'mutation Set($id: Int!, $set: postUpdateInput!) { updatepostCollection(set: $set, filter: {id: {eq: $id}}) { affectedCount } }',
  'mutation Off { deleteFromtagCollection(filter: {id: {eq: 1}}) { affectedCount } double(n: 2) }',
  'query Kind { __typename noteCollection { edges { node { __typename ... on note { id } } } } }',
]

const documents: readonly ExampledDocument[] = texts.map((text, at) => ({
  source: `${at}.graphql`,
  text: `${text}\n`,
  roles: null,
  examples: { all: [] },
}))

/** The members of a manifest that say who holds something. */
const granted = new Set(['select', 'insert', 'update', 'delete', 'execute', 'usage'])

/** The manifest with other holders in the lists of these members, in the order in which they stand. */
function grantedTo(manifest: Manifest, draw: (ofColumn: boolean) => readonly string[]): Manifest {
  const walk = (value: unknown, member: string, ofColumn: boolean): unknown => {
    if (Array.isArray(value))
      return granted.has(member) && value.every((item) => typeof item === 'string')
        ? draw(ofColumn)
        : value.map((item) => walk(item, '', ofColumn || member === 'columns'))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, walk(inner, name, ofColumn)]))
  }
  return { ...(walk(manifest, '', false) as Manifest), holders: [...roles] }
}

const compiled = (manifest: Manifest, asking: readonly string[]) => {
  const { files, faults } = compileDocuments(createEngine({ ...revision, manifest }), asking, documents)
  const index = JSON.parse(files[documentsIndex] ?? '') as DocumentsIndex
  return { files, faults, index }
}

describe('the share of several roles', () => {
  it('is what each has alone, however privileges are held', () => {
    const some = fc.subarray(['a', 'b', 'c', 'public'])
    // Mostly all of them: a document that no role may run shows little.
    const held = fc.oneof(
      { arbitrary: fc.constant<readonly string[]>(roles), weight: 5 },
      { arbitrary: some, weight: 1 },
    )
    const heldOfColumn = fc.oneof(
      { arbitrary: fc.constant<readonly string[]>([]), weight: 2 },
      { arbitrary: some, weight: 1 },
    )
    fc.assert(
      fc.property(fc.infiniteStream(held), fc.infiniteStream(heldOfColumn), (ofRelations, ofColumns) => {
        const manifest = grantedTo(
          revision.manifest,
          (ofColumn) => (ofColumn ? ofColumns : ofRelations).next().value ?? [],
        )
        const together = compiled(manifest, roles)
        for (const role of roles) {
          const alone = compiled(manifest, [role])
          expect(together.index.roles[role]).toEqual(alone.index.roles[role])
          expect(together.index.types[role]).toEqual(alone.index.types[role])
          expect(together.index.needs).toMatchObject(alone.index.needs)
          const { [documentsIndex]: _index, ...files } = alone.files
          expect(together.files).toMatchObject(files)
          expect(together.faults.filter((fault) => fault.role === role)).toEqual(alone.faults)
        }
      }),
      { numRuns: sized(8, 4) },
    )
  })

  it('is made once for roles that differ elsewhere, and again for one that differs there', () => {
    const [add] = documents.filter(({ text }) => text.startsWith('mutation Add'))
    if (add === undefined) throw new Error('there is such a document')
    const made = (relation: string, column: string): number => {
      const entities = revision.manifest.entities.map((entity) => {
        if (entity.relation !== relation) return entity
        const columns = entity.columns.map((one) =>
          one.column === column ? one : { ...one, grants: { ...one.grants, insert: ['c'] } },
        )
        return { ...entity, columns, grants: { ...entity.grants, insert: ['a', 'b'] } }
      })
      let times = 0
      const counted = {
        ...add,
        get examples() {
          times += 1
          return add.examples
        },
      }
      const { faults } = compileDocuments(
        createEngine({ ...revision, manifest: { ...revision.manifest, entities } }),
        roles,
        [counted],
      )
      expect(faults).toEqual([])
      return times
    }
    expect(made('tag', 'label')).toBe(1)
    expect(made('note', 'owner')).toBe(2)
  })
})

describe('the work of several threads', () => {
  const wrong = { source: 'wrong.graphql', text: '{ nothing }', roles: null, examples: { all: [] } }
  const exampled = { ...wrong, text: texts[0] ?? '', examples: { all: [], named: new Map([['One', [{ id: 7 }]]]) } }
  const given = [...documents, wrong, exampled]

  it('is the same in each of them', async () => {
    const tasks = documentTasks(roles, given, nothingEarlier)
    const apart = await makeApart({ revision, tasks, taken: noneTaken() })
    expect([...apart.keys()]).toEqual([...given.keys()])
    expect(apart).toEqual(makeNext({ revision, tasks, taken: noneTaken() }))
    expect(apart.get(given.indexOf(wrong))?.[0]?.errors).toHaveLength(1)
    expect(apart.get(given.indexOf(exampled))?.[0]?.file?.content).toContain('{"id": 7}')
  })

  it('is whole, however it is divided', async () => {
    const many = Array.from({ length: 10 }, (_, turn) =>
      given.map((one) => ({ ...one, text: `${one.text} # ${turn}` })),
    ).flat()
    const make = await makeTogether(revision, documentTasks(roles, many, nothingEarlier))()
    const build = { version: '', earlier: nothingEarlier, definitions: new Map() }
    const together = compileDocuments(createEngine(revision), roles, many, { ...build, make })
    expect(together).toEqual(compileDocuments(createEngine(revision), roles, many, build))
    expect(together.faults).toHaveLength(10 * roles.length)
  })
})
