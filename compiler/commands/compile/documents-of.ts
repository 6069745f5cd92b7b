import type { Artifacts } from '../../emit/artifacts.ts'
import type { Manifest } from '../../../runtime/contract/manifest.ts'
import type { Revision } from '../../../runtime/contract/artifact.ts'
import type { Query } from '../../../runtime/db/connect/session.ts'
import { reasonOf } from '../../../runtime/db/failures/failures.ts'
import { createEngine } from '../../additions/engine.ts'
import { groupBy } from '../../../runtime/lib/steps.ts'
import {
  compileDocuments,
  type Build,
  type DocumentFault,
  type ExampledDocument,
} from '../compiled/compile-documents.ts'
import { legibleDocuments } from '../compiled/legible.ts'
import { listingSql, listsOf, NoList, readListed } from '../compiled/lists.ts'
import { refusedLines } from '../compiled/refused-forms.ts'
import type { GivenDocument } from '../advise/diff/document-changes.ts'
import { CommandFailure, misuse, type GivenOptions, type Terminal, namesOption, textOption } from '../command.ts'
import { demandRole } from '../demand-role.ts'
import { givenDocuments } from '../given-documents.ts'
import { readNamedExamples, withExamples, type NamedExamples } from './examples.ts'

export interface DocumentsRequest {
  /** Null: those of the allow-list. */
  readonly files: readonly GivenDocument[] | null
  /** Null: the roles that the lists govern. */
  readonly roles: readonly string[] | null
  readonly examples: NamedExamples
}

export interface TakenDocuments {
  readonly documents: readonly ExampledDocument[]
  readonly roles: readonly string[]
  /** They are listed for all roles of the list: a role that cannot use a document is skipped. */
  readonly listed: boolean
}

/** Null: no documents. Rejects with CommandFailure. */
export async function documentsRequest(given: GivenOptions): Promise<DocumentsRequest | null> {
  const [pattern, examples] = [textOption(given, 'documents'), textOption(given, 'examples')]
  const isListed = given['allowlist'] === true
  if (pattern !== null && isListed) throw misuse('--allowlist takes the place of --documents')
  if (isListed && given['list-sql'] !== undefined) throw misuse('--list-sql goes with --documents')
  if (pattern === null && !isListed) {
    const [stray] = ['roles', 'examples', 'list-sql'].filter((name) => given[name] !== undefined)
    if (stray !== undefined) throw misuse(`--${stray} goes with --documents or --allowlist`)
    return null
  }
  return {
    files: pattern === null ? null : await givenDocuments(pattern),
    roles: isListed && given['roles'] === undefined ? null : namesOption(given, 'roles', 'anon'),
    examples: examples === null ? {} : readNamedExamples(examples),
  }
}

/** Rejects with CommandFailure for an unknown role, and for an unusable list. */
export async function takeDocuments(
  query: Query,
  manifest: Manifest,
  { files, roles, examples }: DocumentsRequest,
): Promise<TakenDocuments> {
  for (const role of roles ?? []) await demandRole(query, role)
  const asking = roles ?? [...new Set(manifest.allowlists?.flatMap((list) => list.roles))]
  const documents = files ?? (await readListed(query, manifest, asking).catch(refuseList))
  return { documents: withExamples(documents, examples), roles: asking, listed: files === null }
}

function refuseList(error: unknown): never {
  throw new CommandFailure(
    error instanceof NoList ? error.message : `the allow-list cannot be read: ${reasonOf(error)}`,
  )
}

/**
 * The files of the documents, some of which may be reused from their folder. Throws CommandFailure with all documents
 * that a role cannot use; for a listed document, that no role can use.
 */
export function filesOf(
  revision: Revision,
  { documents, roles, listed }: TakenDocuments,
  { note }: Pick<Terminal, 'note'>,
  build: Build,
): Required<Pick<Artifacts, 'files' | 'kept'>> {
  const { files, kept, faults } = compileDocuments(createEngine(revision), roles, documents, build)
  const partly = listed ? faults.filter(isAskedByOthers(faults, documents)) : []
  const wrong = faults.filter((fault) => !partly.includes(fault))
  if (wrong.length > 0) throw new CommandFailure(wrong.map(faultLine).join('\n'))
  for (const line of refusedLines(files, documents)) note(line)
  for (const [role, left] of groupBy(partly, (fault) => fault.role)) {
    const count = new Set(left.map(({ source }) => source)).size
    note(`${role} cannot ask ${count} of the listed documents, which are not compiled for it`)
  }
  return { files: { ...files, ...legibleDocuments(files, documents) }, kept }
}

function isAskedByOthers(
  faults: readonly DocumentFault[],
  documents: readonly GivenDocument[],
): (fault: DocumentFault) => boolean {
  const [refused, asked] = [groupBy(faults, ({ source }) => source), groupBy(documents, ({ source }) => source)]
  return ({ source }) => {
    const refusing = new Set(refused.get(source)?.map(({ role }) => role))
    return asked.get(source)?.some(({ roles }) => roles?.some((role) => !refusing.has(role))) ?? false
  }
}

const faultLine = ({ source, role, message, place }: DocumentFault): string =>
  `${source}${place === null ? '' : `:${place.line}:${place.column}`}: ${role}: ${message}`

/** SQL that adds the documents to the allow-lists of their roles. @throws CommandFailure if a role has none */
export function listSql(manifest: Manifest, { documents, roles }: TakenDocuments): string {
  try {
    return listsOf(manifest, roles)
      .map(({ table }) => listingSql(table, documents))
      .join('\n')
  } catch (error) {
    throw error instanceof NoList ? new CommandFailure(error.message) : error
  }
}
