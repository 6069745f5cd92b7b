import type { Revision, RevisionSource } from '../../contract/artifact.ts'
import { definitionOf } from '../../db/check/definitions.ts'
import {
  checkObjects,
  versionOf,
  type NamedColumns,
  type NamedFunction,
  type ObjectCheck,
  type Sought,
} from '../../db/check/fits.ts'
import type { Query } from '../../db/connect/session.ts'
import { DatabaseFailure } from '../../db/failures/failures.ts'
import { messageOf } from '../../lib/text.ts'
import { Hopeless } from '../../lib/retry.ts'
import type { Log } from '../../settings/log/events.ts'
import { saysTheSame } from './documents.ts'
import { startsOf, type DocumentNeeds, type DocumentsIndex } from './format.ts'
import type { DocumentsPlace, FoundDocuments } from './found.ts'

/**
 * The compiled documents of a server: the newest of a folder, and which of them the database can answer. New artifacts
 * are picked up, and documents are compared with the schema after each change of it.
 */
interface CompiledSourceOptions {
  readonly documents: DocumentsPlace
  /** Runs statements as the login role. */
  readonly query: Query
  readonly log: Log
  /** True: no request waits for a look that another request began and that ends with it. */
  readonly alone?: boolean
}

interface Written {
  readonly mark: string
  readonly documents: FoundDocuments
  /** Why newer artifacts cannot be read. */
  readonly failure?: string
}

/**
 * @throws ArtifactFailure for artifacts that cannot be used. The source rejects with Hopeless at first if the database
 * is not prepared, or cannot answer any of the documents.
 */
export function createCompiledSource({
  documents: place,
  query,
  log,
  alone = false,
}: CompiledSourceOptions): RevisionSource {
  let written: Written = { mark: place.mark(), documents: place.find() }
  let last: Revision | null = null
  const refresh = async (): Promise<Revision> => {
    const before = written
    written = newest(place, before)
    const { documents, failure } = written
    // Requests check the version too: a call without a reason need not compare everything.
    if (last !== null && last.version !== null && written === before && last.version === (await versionOf(query)))
      return last
    const status = await checkObjects(query, soughtBy(documents.index)).catch(refuseUnprepared)
    const outdated = outdatedOf(documents.index, status)
    if (last === null) refuseForeign(documents, outdated)
    const made = revisionOf(documents, status, [...outdated.keys()], failure)
    if (last !== null && saysTheSame(last, made)) return last
    const lost = last?.compiled?.outdated.join() ?? ''
    if (outdated.size > 0 && lost !== made.compiled?.outdated.join())
      log({ kind: 'documents-outdated', documents: outdated.size, missing: [...outdated.values()][0] ?? '' })
    last = made
    return made
  }
  if (alone) return refresh
  let running: Promise<Revision> | null = null
  return () => {
    // A call during a running look may know of a later change.
    const asked = (running ?? Promise.resolve()).then(refresh, refresh)
    running = asked
    return asked
  }
}

function newest(place: DocumentsPlace, before: Written): Written {
  const mark = place.mark()
  if (mark === before.mark) return before
  try {
    return { mark, documents: place.find() }
  } catch (error) {
    // A write may be in progress: the mark is compared again.
    return { ...before, failure: messageOf(error) }
  }
}

/** The SQLSTATE classes of a missing schema or function of a prepared database. */
const notThere: ReadonlySet<string> = new Set(['3F', '42'])

function refuseUnprepared(error: unknown): never {
  if (error instanceof DatabaseFailure && notThere.has(error.sqlstate?.slice(0, 2) ?? ''))
    throw new Hopeless('the database is not prepared: catalograph prepare does it, or prints what an owner has to run')
  throw error
}

const soughtBy = ({ needs, watched, roles, manifest }: DocumentsIndex): Sought => ({
  ...allNeeds(needs),
  roles: Object.keys(roles),
  holders: manifest.holders,
  wantsDefinitions: Object.keys(watched).length > 0,
})

function allNeeds(needs: DocumentsIndex['needs']): DocumentNeeds {
  const schemas = new Map<string, Map<string, NamedColumns>>()
  const functions = new Map<string, NamedFunction>()
  for (const one of Object.values(needs)) {
    for (const [schema, relations] of Object.entries(one.relations)) {
      const found = schemas.get(schema) ?? new Map<string, NamedColumns>()
      schemas.set(schema, found)
      for (const [name, columns] of Object.entries(relations))
        found.set(name, Object.assign(found.get(name) ?? {}, columns))
    }
    for (const fn of one.functions) functions.set(keyOfNames(fn), fn)
  }
  const relations = Object.fromEntries([...schemas].map(([schema, found]) => [schema, Object.fromEntries(found)]))
  return { relations, functions: [...functions.values()] }
}

const keyOfNames = (names: readonly (string | null)[]): string => JSON.stringify(names)

/** By address, the documents that need a missing object, and the first such object. */
function outdatedOf({ needs, watched }: DocumentsIndex, status: ObjectCheck): ReadonlyMap<string, string> {
  const lost = new Set([...status.columns, ...status.functions].map(keyOfNames))
  return new Map(
    Object.entries(needs).flatMap(([address, needed]) => {
      const missed =
        (lost.size === 0 ? undefined : missedOf(needed, lost)) ?? changedOf(needed, watched[address], status)
      return missed === undefined ? [] : [[address, missed] as const]
    }),
  )
}

/** @param watched undefined: it does not subscribe */
function changedOf(
  needed: DocumentNeeds,
  watched: string | undefined,
  { definitions }: ObjectCheck,
): string | undefined {
  if (watched === undefined || definitionOf(startsOf(needed), definitions) === watched) return undefined
  return 'the definitions that decide what a subscription watches, as they were'
}

function missedOf({ relations, functions }: DocumentNeeds, lost: ReadonlySet<string>): string | undefined {
  for (const [schema, named] of Object.entries(relations))
    for (const [relation, columns] of Object.entries(named)) {
      if (lost.has(keyOfNames([schema, relation, null]))) return `${schema}.${relation}`
      const column = Object.keys(columns).find((name) => lost.has(keyOfNames([schema, relation, name])))
      if (column !== undefined) return `${schema}.${relation}.${column}${ofType(columns[column])}`
    }
  const [schema, name] = functions.find((fn) => lost.has(keyOfNames(fn))) ?? []
  return name === undefined ? undefined : `the function ${schema}.${name}`
}

const ofType = (type: NamedColumns[string] | undefined): string => (typeof type === 'string' ? ` of type ${type}` : '')

/** If the database can answer none of the documents, the artifacts belong to another database. */
function refuseForeign({ index }: FoundDocuments, outdated: ReadonlyMap<string, string>): void {
  const [missing] = outdated.values()
  if (missing === undefined || outdated.size < Object.keys(index.needs).length) return
  throw new Hopeless(
    `the artifacts (revision ${index.revision}) are of another database: none of their documents can be answered; the database lacks ${missing}`,
  )
}

function revisionOf(
  { id, folder, index, addresses }: FoundDocuments,
  { version, roles }: ObjectCheck,
  outdated: readonly string[],
  failure: string | undefined,
): Revision {
  return {
    id,
    version,
    // Role memberships are those of this database, not of the one where the documents were compiled.
    manifest: { ...nothingServed, ...index.manifest, roles: { ...index.manifest.roles, ...roles } },
    entities: [],
    functions: '',
    compiled: { folder, addresses, outdated },
    ...(failure !== undefined && { failure }),
  }
}

/** The API consists of its documents only. */
export const nothingServed = {
  schemas: [],
  enums: [],
  entities: [],
  functions: [],
  validation: true,
  refusal: null,
} as const
