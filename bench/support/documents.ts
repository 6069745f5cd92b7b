import { execFile } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { TestDatabase } from '../../test/support/database.ts'
import { commandLine } from './record.ts'
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

/** Writes a document of an application into a folder that is there. */
export const writeDocument = (folder: string, at: number, text: string): Promise<void> =>
  writeFile(join(folder, `q${at}.graphql`), text)

export const writeDocuments = async (folder: string, texts: readonly string[]): Promise<void> => {
  await mkdir(folder, { recursive: true })
  for (const [at, text] of texts.entries()) await writeDocument(folder, at, text)
}

/** Runs `compile` of the built command line on the database. */
export const runCompile = async (
  { url, ownerUrl }: Pick<TestDatabase, 'url' | 'ownerUrl'>,
  out: string,
  documents: { readonly folder: string; readonly roles: readonly string[] } | null,
): Promise<void> => {
  const asked =
    documents === null ? [] : ['--documents', join(documents.folder, '*.graphql'), '--roles', documents.roles.join(',')]
  const env = { PATH: process.env['PATH'], DATABASE_URL: url, DATABASE_OWNER_URL: ownerUrl }
  await promisify(execFile)(process.execPath, [commandLine, 'compile', '--out', out, ...asked], { env })
}

/** Compiles the database with documents for signed-in users. Resolves with the artifacts' folder. */
export const compileApplication = async (
  db: TestDatabase,
  folder: string,
  texts: readonly string[],
): Promise<string> => {
  const [documents, artifacts] = [join(folder, 'documents'), join(folder, 'artifacts')]
  await writeDocuments(documents, texts)
  await runCompile(db, artifacts, { folder: documents, roles: ['authenticated'] })
  return artifacts
}
