import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { documentOf, parentOf } from './tables.ts'

/** The documents of an application on the tables of support/tables.ts: rows by key, pages, trees, inserts and updates. */
const kinds: readonly ((index: number, mark: number) => string)[] = [
  (index, mark) => `query Q${mark}($id: BigInt!) {
    tab_${index}ByPk(id: $id) { id c0 c1 c3 c7 tab_${parentOf(index)} { id c0 } }
  }`,
  (index, mark) => `query Q${mark}($n: Int, $after: Cursor, $c4: Boolean!, $detailed: Boolean!) {
    tab_${index}Collection(first: $n, after: $after, filter: {c4: {eq: $c4}}, orderBy: [{c3: DescNullsLast}]) {
      edges { cursor node { id c0 c1 c3 c5 @include(if: $detailed) } }
      pageInfo { hasNextPage endCursor }
    }
  }`,
  (index, mark) => documentOf(index, 3, mark),
  (index, mark) => `mutation Q${mark}($rows: [tab_${index}InsertInput!]!) {
    insertIntotab_${index}Collection(objects: $rows) { affectedCount records { id c0 } }
  }`,
  (index, mark) => `mutation Q${mark}($id: BigInt!, $c0: String, $c1: BigInt) {
    updatetab_${index}Collection(set: {c0: $c0, c1: $c1}, filter: {id: {eq: $id}}, atMost: 1) { affectedCount records { id c0 c1 } }
  }`,
]

/** So many documents, spread over so many tables. */
export const applicationOf = (count: number, tables: number): readonly string[] =>
  Array.from({ length: count }, (_, mark) => {
    const kind = kinds[mark % kinds.length]
    if (kind === undefined) throw new Error('there are kinds')
    return `${kind(1 + ((mark * 7) % (tables - 1)), mark)}\n`
  })

/** Writes them into a folder, one in a file. Resolves with the pattern that finds them. */
export const writeApplication = async (folder: string, texts: readonly string[]): Promise<string> => {
  await mkdir(folder, { recursive: true })
  for (const [at, text] of texts.entries()) await writeFile(join(folder, `q${at}.graphql`), text)
  return join(folder, '*.graphql')
}
