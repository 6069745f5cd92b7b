import type { Diagnostic } from '../../runtime/contract/manifest.ts'
import { objectId } from '../../runtime/contract/facts.ts'
import type { Lookup } from '../../runtime/lib/memo/tables.ts'
import { literal } from '../../runtime/sql/literal.ts'
import { qualified } from '../../runtime/sql/ident.ts'
import type { CatalogDistributed } from '../catalog/catalog.ts'
import type { Annotated, AnnotatedRelation } from '../comments/annotated.ts'
import { diagnose } from '../catalog/diagnostics/diagnostics.ts'
import { nameRelation } from '../catalog/diagnostics/object-name.ts'
import type { Link, RelationLinks } from './links.ts'

/** The servers of a relation's rows. */
type Place =
  | { readonly kind: 'here' | 'everywhere' }
  /** Rows with equal values in the column are on the server of the same group's rows; null: all are together. */
  | { readonly kind: 'spread'; readonly column: string | null; readonly group: string }

interface Placed {
  readonly relation: AnnotatedRelation
  readonly place: Place
}

const distributionOf = (how: CatalogDistributed | undefined): Place => {
  if (how === undefined) return { kind: 'here' }
  if (how.everywhere) return { kind: 'everywhere' }
  // Citus lists local tables that foreign keys of reference tables refer to.
  if (how.column === null && how.group === '0') return { kind: 'here' }
  return { kind: 'spread', column: how.column, group: how.group }
}

/** Diagnostics of relations between different servers (Citus). */
export function crossingDiagnostics(
  { relations, distributed }: Pick<Annotated, 'relations' | 'distributed'>,
  links: Lookup<RelationLinks>,
): readonly Diagnostic[] {
  if (distributed === undefined) return []
  const how = new Map(distributed.map((one) => [one.oid, one]))
  const placed = new Map(
    relations
      .filter(({ kind }) => kind === 'r' || kind === 'p')
      .map((relation) => [
        objectId(relation.schema, relation.name),
        { relation, place: distributionOf(how.get(relation.oid)) } satisfies Placed,
      ]),
  )
  return [...placed.keys()].flatMap((id) =>
    (links.get(id)?.forward ?? []).flatMap((link) => {
      const [child, parent] = [placed.get(link.child.id), placed.get(link.parent.id)]
      return child === undefined || parent === undefined ? [] : (diagnosisOf(link, child, parent) ?? [])
    }),
  )
}

function diagnosisOf(link: Link, child: Placed, parent: Placed): Diagnostic | null {
  const [here, there] = [child.place, parent.place]
  if (here.kind === 'spread' && there.kind === 'spread') return betweenSpread(link, child, here, parent, there)
  const spread = here.kind === 'spread' ? child : there.kind === 'spread' ? parent : null
  if (spread === null) return null
  const other = spread === child ? parent : child
  if (other.place.kind === 'here')
    return crosses(
      link,
      `${nameRelation(other.relation)} lies on the coordinator alone, and ${nameRelation(spread.relation)} on shards`,
      `select create_reference_table(${nameIn(other.relation)});`,
    )
  return within(link)
}

function betweenSpread(
  link: Link,
  child: Placed,
  here: Place & { readonly kind: 'spread' },
  parent: Placed,
  there: Place & { readonly kind: 'spread' },
): Diagnostic | null {
  const both = `${nameRelation(child.relation)} and ${nameRelation(parent.relation)}`
  if (here.group !== there.group)
    return crosses(
      link,
      `the shards of ${both} are not co-located`,
      `select alter_distributed_table(${nameIn(child.relation)}, colocate_with => ${nameIn(parent.relation)}); It drops comments on the table: run them again.`,
    )
  if (here.column === null) return null
  const isJoined = link.columns.some((name, at) => name === here.column && link.foreignColumns[at] === there.column)
  if (isJoined) return within(link)
  return crosses(
    link,
    `its columns are not those that ${both} are distributed by`,
    `Let it name ${JSON.stringify(here.column)} here and ${JSON.stringify(there.column)} there, beside the columns that it names.`,
  )
}

const nameIn = ({ schema, name }: AnnotatedRelation): string => literal(qualified(schema, name))

const crosses = (link: Link, why: string, fix: string): Diagnostic =>
  diagnose('relation-crosses-shards', link.object, { why, fix })

const within = ({ object }: Link): Diagnostic => diagnose('relation-within-tenant', object, {})
