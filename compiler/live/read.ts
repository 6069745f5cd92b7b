import { createLru } from '../../runtime/lib/lru.ts'
import type { CatalogQuery } from '../catalog/read.ts'
import type { Oid } from '../catalog/types.ts'
import { readComment } from '../comments/settings.ts'
import { readSource, type Parse } from './bodies.ts'
import { nothing, together, type Mentions, type Named } from './mentions.ts'
import { readTree } from './node-tree.ts'
import { namesQuery, objectsQuery } from './query.ts'
import { decodeObjects, type FunctionRow, type RelationRow } from './rows.ts'

/** What a relation or function depends on; names have been looked up. */
type Dependent = Omit<Mentions, 'names'>

export interface KnownRelation extends RelationRow {
  readonly depends: Dependent
}

export interface KnownFunction extends FunctionRow {
  readonly depends: Dependent
}

/** All that reading some objects reads, by OID. */
export interface Closure {
  readonly relations: ReadonlyMap<Oid, KnownRelation>
  readonly functions: ReadonlyMap<Oid, KnownFunction>
  /** The functions of operators. */
  readonly operators: ReadonlyMap<Oid, Oid>
}

export interface ClosureOptions {
  readonly query: CatalogQuery
  readonly parse: Parse
  /** Schemas in which a request finds names, in order. */
  readonly schemas: readonly string[]
  /** SQL that tells whether changes of the relation `c` of pg_class are told. */
  readonly told: string
}

type Asked = Readonly<Record<'relations' | 'functions' | 'operators', readonly Oid[]>>

/** In characters of bodies. */
const keptBodies = 1_000_000

/**
 * Makes a reader of what relations and functions read, directly and through others: it asks for what the last answer mentioned until
 * nothing is new. Its statements see later states than the catalogue that it is asked about: what they show too much is of a later
 * version, for which all is read again.
 */
export function createClosureReader({ query, parse, schemas, told }: ClosureOptions): (of: Asked) => Promise<Closure> {
  const text = objectsQuery(told)
  const bodies = createLru<string, Mentions>(keptBodies, (_, body) => body.length)
  const bodyOf = async (fn: FunctionRow): Promise<Mentions> => {
    const key = JSON.stringify([fn.language, fn.source, fn.argNames, fn.argModes])
    const known = bodies.get(key) ?? (await readSource(fn, parse))
    bodies.set(key, known)
    return known
  }
  const answered = async ({ relations, functions, operators }: Asked): Promise<Closure> => {
    const { rows } = await query(text, [relations, functions, operators])
    const objects = decodeObjects(String(rows[0]?.['objects']))
    const mentioned = await Promise.all(objects.functions.map((fn) => functionMentions(fn, bodyOf)))
    const named = await lookUp(query, [
      ...objects.relations.map(({ trees }) => ({ mentions: together(trees.map(readTree)), path: schemas })),
      ...objects.functions.map((fn, place) => ({ mentions: mentioned[place] ?? nothing, path: pathOf(fn) ?? schemas })),
    ])
    const count = objects.relations.length
    const depends = (place: number): Dependent => named[place] ?? nothing
    return {
      relations: byOid(objects.relations.map((relation, place) => ({ ...relation, depends: depends(place) }))),
      functions: byOid(objects.functions.map((fn, place) => ({ ...fn, depends: depends(count + place) }))),
      operators: new Map(objects.operators.map(({ oid, code }) => [oid, code])),
    }
  }
  return async (of) => {
    let known: Closure = { relations: new Map(), functions: new Map(), operators: new Map() }
    for (let asked = of; Object.values(asked).some(({ length }) => length > 0); asked = unknownTo(known)) {
      const answer = await answered(asked)
      const missing = <T>(kind: keyof Asked, found: ReadonlyMap<Oid, T>): boolean =>
        asked[kind].some((oid) => !found.has(oid))
      if (missing('relations', answer.relations) || missing('functions', answer.functions)) throw new TypeError(gone)
      known = {
        relations: new Map([...known.relations, ...answer.relations]),
        functions: new Map([...known.functions, ...answer.functions]),
        operators: new Map([...known.operators, ...answer.operators]),
      }
    }
    return known
  }
}

/** The statements see no common state. */
const gone = 'an object was dropped while what it reads was looked up'

const byOid = <T extends { readonly oid: Oid }>(items: readonly T[]): ReadonlyMap<Oid, T> =>
  new Map(items.map((item) => [item.oid, item]))

function unknownTo({ relations, functions, operators }: Closure): Asked {
  const all = [...relations.values(), ...functions.values()].map(({ depends }) => depends)
  const trees = [...relations.values()].flatMap(({ parents, children }) => [...parents, ...children])
  const parts = [...functions.values()].flatMap((fn) => fn.parts)
  const without = (oids: readonly Oid[], known: ReadonlyMap<Oid, unknown>): readonly Oid[] =>
    [...new Set(oids)].filter((oid) => !known.has(oid))
  return {
    relations: without([...all.flatMap((depends) => depends.relations), ...trees], relations),
    functions: without([...all.flatMap((depends) => depends.functions), ...parts], functions),
    operators: without(
      all.flatMap((depends) => depends.operators),
      operators,
    ),
  }
}

async function functionMentions(fn: FunctionRow, bodyOf: (fn: FunctionRow) => Promise<Mentions>): Promise<Mentions> {
  const trees = [fn.body, fn.defaults].flatMap((tree) => (tree === null ? [] : [readTree(tree)]))
  const isText = fn.kind === 'f' && fn.body === null && !fn.system
  const isReadable = fn.language === 'sql' || fn.language === 'plpgsql'
  // What is immutable reads nothing, as Postgres itself takes it; what is volatile is refused anyway.
  const body = !isText || fn.volatility === 'v' || (fn.volatility === 'i' && !isReadable) ? nothing : await bodyOf(fn)
  return together([...trees, withReads(fn, body)])
}

/** What a function's comment says about what cannot be read of it. */
function withReads({ comment }: FunctionRow, body: Mentions): Mentions {
  const reads = comment === null ? null : readComment('function', () => '', comment).settings.live
  if (reads === null) return body
  const names = reads.map((table): Named => ({ kind: 'relation', ...table, args: null }))
  return { ...body, names: [...body.names, ...names], faults: body.faults.filter(({ kind }) => kind !== 'unknown') }
}

/** `search_path` as ALTER FUNCTION ... SET keeps it: names with quotes or without. */
const pathOf = ({ path }: FunctionRow): readonly string[] | null =>
  path === null
    ? null
    : Array.from(path.matchAll(/"((?:[^"]|"")*)"|([^\s",]+)/g), ([, quoted, plain = '']) =>
        quoted === undefined ? plain : quoted.replaceAll('""', '"'),
      ).filter((name) => name !== '')

interface Looked {
  readonly mentions: Mentions
  readonly path: readonly string[]
}

/** What is not found is a word of another kind: an argument, a query of WITH, an alias. */
async function lookUp(query: CatalogQuery, all: readonly Looked[]): Promise<readonly Dependent[]> {
  const asked = all.flatMap(({ mentions, path }, id) => {
    const reached = path.includes('pg_catalog') ? path : ['pg_catalog', ...path]
    const distinct = new Map(mentions.names.map((name) => [JSON.stringify(name), name]))
    return [...distinct.values()].map((name) => ({ owner: id, path: reached, ...name }))
  })
  if (asked.length === 0) return all.map(({ mentions }) => mentions)
  const { rows } = await query(namesQuery, [JSON.stringify(asked.map((name, id) => ({ id, ...name })))])
  const found = new Map<number, Record<'relation' | 'function', Oid[]>>()
  for (const row of rows) {
    const owner = asked[Number(row['id'])]?.owner ?? -1
    const kinds = found.get(owner) ?? { relation: [], function: [] }
    found.set(owner, kinds)
    kinds[row['kind'] === 'relation' ? 'relation' : 'function'].push(String(row['oid']))
  }
  return all.map(({ mentions }, id) => {
    const { relation = [], function: called = [] } = found.get(id) ?? {}
    const { relations, functions, operators, faults } = mentions
    return { relations: [...relations, ...relation], functions: [...functions, ...called], operators, faults }
  })
}
