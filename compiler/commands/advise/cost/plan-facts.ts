import type { Query } from '../../../../runtime/db/connect/session.ts'

export interface PlanFacts {
  readonly indexes: readonly RelationName[]
  readonly scans: readonly RelationName[]
}

export interface RelationName {
  readonly schema: string
  readonly name: string
}

/** EXPLAIN (VERBOSE, FORMAT JSON), the used members. */
interface Node {
  readonly 'Node Type'?: string
  readonly Schema?: string
  readonly 'Relation Name'?: string
  readonly 'Index Name'?: string
  readonly Plans?: readonly Node[]
}

/** @param plan the JSON text of EXPLAIN (VERBOSE, FORMAT JSON) */
export function factsOfPlan(plan: string): PlanFacts {
  const [root] = JSON.parse(plan) as readonly { readonly Plan?: Node }[]
  const nodes = root?.Plan === undefined ? [] : nodesOf(root.Plan, '')
  return {
    indexes: nodes.flatMap(({ schema, node: { 'Index Name': name } }) =>
      name === undefined ? [] : [{ schema, name }],
    ),
    scans: nodes.flatMap(({ schema, node: { 'Node Type': type, 'Relation Name': name } }) =>
      type === 'Seq Scan' && name !== undefined ? [{ schema, name }] : [],
    ),
  }
}

/** An index is in the schema of its table; a bitmap index scan has it only at its parent node. */
function nodesOf(node: Node, around: string): readonly { readonly node: Node; readonly schema: string }[] {
  const schema = node.Schema ?? around
  return [{ node, schema }, ...(node.Plans ?? []).flatMap((inner) => nodesOf(inner, schema))]
}

export interface Sizes {
  /** A table or index; for partitions their parent. */
  readonly nameOf: (relation: RelationName) => string
  /** Those of these tables with so many rows, partitions together. */
  readonly largeOf: (scans: readonly RelationName[], rows: number) => readonly string[]
  /** Those of these tables that were never analyzed. */
  readonly unknownOf: (scans: readonly RelationName[]) => readonly string[]
}

interface Sized {
  readonly schema: string
  readonly name: string
  readonly whole: string
  /** -1: never analyzed. */
  readonly rows: number
}

/** The present sizes. Rejects with DatabaseFailure. */
export async function readSizes(query: Query): Promise<Sizes> {
  const { rows } = await query<Sized>(
    `select n.nspname::text as schema, c.relname::text as name, pg_catalog.format('%I.%I', wn.nspname, w.relname) as whole, c.reltuples::float8 as rows
     from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
     join pg_catalog.pg_class w on w.oid = coalesce(pg_catalog.pg_partition_root(c.oid)::oid, c.oid)
     join pg_catalog.pg_namespace wn on wn.oid = w.relnamespace
     where c.relkind in ('r', 'm', 'i')`,
  )
  const known = new Map(rows.map((row) => [JSON.stringify([row.schema, row.name]), row]))
  const find = ({ schema, name }: RelationName): Sized =>
    known.get(JSON.stringify([schema, name])) ?? { schema, name, whole: `${schema}.${name}`, rows: 0 }
  return {
    nameOf: (relation) => find(relation).whole,
    largeOf: (scans, least) => {
      const sums = new Map<string, number>()
      for (const one of new Set(scans.map(find)))
        sums.set(one.whole, (sums.get(one.whole) ?? 0) + Math.max(0, one.rows))
      return [...sums].flatMap(([name, sum]) => (sum >= least ? [name] : []))
    },
    unknownOf: (scans) => scans.map(find).flatMap((one) => (one.rows < 0 ? [one.whole] : [])),
  }
}
