import { createLru } from '../../../runtime/lib/caches.ts'
import type { CatalogQuery } from '../../catalog/read.ts'
import type { Oid } from '../../catalog/catalog.ts'
import type { NamedTable } from '../../comments/additions.ts'
import { readSource, type Parse, nothing, allMentions, type Mentions, type Named, readTree } from './mentions.ts'
import { objectsQuery, decodeObjects, type FunctionRow, type ReadObjects, type RelationRow } from './query.ts'

/** The dependencies of a relation or function after name lookup. */
type Dependent = Omit<Mentions, 'names'>

export interface KnownRelation extends RelationRow {
  readonly depends: Dependent
}

export interface KnownFunction extends FunctionRow {
  readonly depends: Dependent
}

/** All direct and indirect dependencies of some objects, by OID. */
export interface Closure {
  readonly relations: ReadonlyMap<Oid, KnownRelation>
  readonly functions: ReadonlyMap<Oid, KnownFunction>
  readonly operators: ReadonlyMap<Oid, Oid>
}

/** The initial objects. */
export type ReadStart = Readonly<Record<'relations' | 'functions', readonly Oid[]>>

/** The settings of comments about live queries. */
export interface LiveComments {
  /** Null: the comment does not say it. */
  readonly isLive: (kind: 'relation' | 'schema', comment: string | null) => boolean | null
  /** The relations that the comment of a function names as its reads; null: it names none. */
  readonly reads: (comment: string | null) => readonly NamedTable[] | null
}

export interface ClosureOptions {
  readonly query: CatalogQuery
  readonly parse: Parse
  /** The search path of requests, in order. */
  readonly schemas: readonly string[]
  /** SQL for whether changes of the relation `c` of pg_class are reported. */
  readonly hasTriggers: string
  readonly comments: LiveComments
}

interface Lookup extends Named {
  readonly path: readonly string[]
}

/** One statement's question: objects by OID, and names by their keys. */
interface Question {
  readonly relations: ReadonlySet<Oid>
  readonly functions: ReadonlySet<Oid>
  readonly operators: ReadonlySet<Oid>
  readonly names: ReadonlyMap<string, Lookup>
}

/** The possible objects of a name. */
type Meaning = Pick<Mentions, 'relations' | 'functions'>

/** All answers so far. A missing object is null. */
interface Answers {
  readonly relations: Map<Oid, RelationRow | null>
  readonly functions: Map<Oid, FunctionRow | null>
  /** Their functions. */
  readonly operators: Map<Oid, Oid | null>
  readonly names: Map<string, Meaning>
}

/** In characters of bodies. */
const keptBodies = 1_000_000

/** Prepared once per connection: planning it takes longer than running it. */
const statementName = 'catalograph.live'

/**
 * Creates a reader of the direct and indirect dependencies of relations and functions: it asks for the objects in the
 * last answer until nothing is new. It begins with everything that it found the previous time, so that one statement
 * suffices without new mentions. Its statements see later states than the given catalogue: additional changes have a
 * later version, for which everything is read again.
 */
export function createClosureReader({
  query,
  parse,
  schemas,
  hasTriggers,
  comments,
}: ClosureOptions): (of: ReadStart) => Promise<Closure> {
  const text = objectsQuery(hasTriggers)
  const bodies = createLru<string, Mentions>(keptBodies, (_, body) => body.length)
  const bodyOf = async (fn: FunctionRow): Promise<Mentions> => {
    const key = JSON.stringify([fn.language, fn.source, fn.argNames, fn.argModes])
    const known = bodies.get(key) ?? (await readSource(fn, parse))
    bodies.set(key, known)
    return known
  }
  const ask = async (question: Question, answers: Answers): Promise<void> => {
    const { relations, functions, operators, names } = question
    const lookups = [...names.values()].map((lookup, id) => ({ id, ...lookup }))
    const values = [[...relations], [...functions], [...operators], JSON.stringify(lookups)]
    const { rows } = await query(text, values, statementName)
    keepAnswers(answers, question, decodeObjects(String(rows[0]?.['objects'])))
  }
  let before: Question = { relations: new Set(), functions: new Set(), operators: new Set(), names: new Map() }
  return async (of) => {
    const answers: Answers = { relations: new Map(), functions: new Map(), operators: new Map(), names: new Map() }
    const mentions = new Map<RelationRow | FunctionRow, Mentions>()
    const mentionsOf = async (row: RelationRow | FunctionRow): Promise<Mentions> => {
      const known =
        mentions.get(row) ??
        ('trees' in row ? allMentions(row.trees.map(readTree)) : await functionMentions(row, bodyOf, comments))
      mentions.set(row, known)
      return known
    }
    await ask(
      {
        ...before,
        relations: new Set([...before.relations, ...of.relations]),
        functions: new Set([...before.functions, ...of.functions]),
      },
      answers,
    )
    for (;;) {
      const { closure, question, missing } = await reach(of, answers, mentionsOf, schemas)
      before = question
      if (isEmpty(missing)) return closure
      await ask(missing, answers)
    }
  }
}

function keepAnswers(answers: Answers, { relations, functions, operators, names }: Question, found: ReadObjects): void {
  for (const oid of relations) answers.relations.set(oid, null)
  for (const oid of functions) if (!answers.functions.has(oid)) answers.functions.set(oid, null)
  for (const oid of operators) answers.operators.set(oid, null)
  for (const row of found.relations) answers.relations.set(row.oid, row)
  for (const row of found.functions) answers.functions.set(row.oid, row)
  for (const { oid, code } of found.operators) answers.operators.set(oid, code)
  const meanings = Array.from(names.keys(), (key): readonly [string, Record<keyof Meaning, Oid[]>] => [
    key,
    { relations: [], functions: [] },
  ])
  for (const { id, kind, oid } of found.names)
    meanings[id]?.[1][kind === 'relation' ? 'relations' : 'functions'].push(oid)
  for (const [key, meaning] of meanings) answers.names.set(key, meaning)
}

const isEmpty = ({ relations, functions, operators, names }: Question): boolean =>
  relations.size + functions.size + operators.size + names.size === 0

/** The statements have different snapshots. */
const gone = 'an object was dropped while what it reads was looked up'

/** The known dependencies of these objects. */
interface Reached {
  readonly closure: Closure
  readonly question: Question
  /** The part that was not asked yet. */
  readonly missing: Question
}

/** @throws TypeError if a mentioned object does not exist */
async function reach(
  of: ReadStart,
  answers: Answers,
  mentionsOf: (row: RelationRow | FunctionRow) => Promise<Mentions>,
  schemas: readonly string[],
): Promise<Reached> {
  const closure = {
    relations: new Map<Oid, KnownRelation>(),
    functions: new Map<Oid, KnownFunction>(),
    operators: new Map<Oid, Oid>(),
  }
  const relations = new Set(of.relations)
  const functions = new Set(of.functions)
  const operators = new Set<Oid>()
  const names = new Map<string, Lookup>()
  const missing = {
    relations: new Set<Oid>(),
    functions: new Set<Oid>(),
    operators: new Set<Oid>(),
    names: new Map<string, Lookup>(),
  }
  const lookedUp = (name: Named, path: readonly string[]): readonly Meaning[] => {
    const lookup = { ...name, path }
    const key = JSON.stringify(lookup)
    names.set(key, lookup)
    const meaning = answers.names.get(key)
    if (meaning === undefined) missing.names.set(key, lookup)
    return meaning === undefined ? [] : [meaning]
  }
  /** A name that is not found is of another kind: an argument, a query of WITH, an alias. */
  const dependent = async (row: RelationRow | FunctionRow, own: readonly string[]): Promise<Dependent> => {
    const path = own.includes('pg_catalog') ? own : ['pg_catalog', ...own]
    const { names: named, ...mentioned } = await mentionsOf(row)
    const meanings = named.flatMap((name) => lookedUp(name, path))
    const depends = {
      ...mentioned,
      relations: [...mentioned.relations, ...meanings.flatMap((meaning) => meaning.relations)],
      functions: [...mentioned.functions, ...meanings.flatMap((meaning) => meaning.functions)],
    }
    for (const oid of depends.relations) relations.add(oid)
    for (const oid of depends.functions) functions.add(oid)
    for (const oid of depends.operators) operators.add(oid)
    return depends
  }
  const answered = <T>(kind: 'relations' | 'functions' | 'operators', oid: Oid, answer: T | undefined): answer is T => {
    if (answer === undefined) missing[kind].add(oid)
    return answer !== undefined
  }
  const readAll = async (): Promise<void> => {
    // Iteration over a Set also visits elements that are added during it.
    for (const oid of relations) {
      const row = answers.relations.get(oid)
      if (!answered('relations', oid, row) || closure.relations.has(oid)) continue
      if (row === null) throw new TypeError(gone)
      closure.relations.set(oid, { ...row, depends: await dependent(row, schemas) })
      for (const other of [...row.parents, ...row.children]) relations.add(other)
    }
    for (const oid of operators) {
      const code = answers.operators.get(oid)
      if (!answered('operators', oid, code) || code === null) continue
      closure.operators.set(oid, code)
      functions.add(code)
    }
    for (const oid of functions) {
      const row = answers.functions.get(oid)
      if (!answered('functions', oid, row) || closure.functions.has(oid)) continue
      if (row === null) throw new TypeError(gone)
      closure.functions.set(oid, { ...row, depends: await dependent(row, searchPath(row) ?? schemas) })
      for (const part of row.parts) functions.add(part)
    }
  }
  const reached = (): number => relations.size + functions.size + operators.size
  for (let count = -1; count < reached();) {
    count = reached()
    await readAll()
  }
  return { closure, question: { relations, functions, operators, names }, missing }
}

async function functionMentions(
  fn: FunctionRow,
  bodyOf: (fn: FunctionRow) => Promise<Mentions>,
  comments: LiveComments,
): Promise<Mentions> {
  const trees = [fn.body, fn.defaults].flatMap((tree) => (tree === null ? [] : [readTree(tree)]))
  const isText = fn.kind === 'f' && fn.body === null && !fn.system
  const isReadable = fn.language === 'sql' || fn.language === 'plpgsql'
  // An immutable function reads nothing, as Postgres itself assumes; a volatile one is refused anyway.
  const body = !isText || fn.volatility === 'v' || (fn.volatility === 'i' && !isReadable) ? nothing : await bodyOf(fn)
  return allMentions([...trees, withReads(comments.reads(fn.comment), body)])
}

/** The reads in a function's comment for what cannot be derived. */
function withReads(reads: readonly NamedTable[] | null, body: Mentions): Mentions {
  if (reads === null) return body
  const names = reads.map((table): Named => ({ kind: 'relation', ...table, args: null }))
  return { ...body, names: [...body.names, ...names], faults: body.faults.filter(({ kind }) => kind !== 'unknown') }
}

/** `search_path` as ALTER FUNCTION ... SET stores it: names with or without quotes. */
const searchPath = ({ path }: FunctionRow): readonly string[] | null =>
  path === null
    ? null
    : Array.from(path.matchAll(/"((?:[^"]|"")*)"|([^\s",]+)/g), ([, quoted, plain = '']) =>
        quoted === undefined ? plain : quoted.replaceAll('""', '"'),
      ).filter((name) => name !== '')
