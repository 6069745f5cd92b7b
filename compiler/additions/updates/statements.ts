import { givenRows } from '../../../runtime/graphql/statements/changes.ts'
import { keyEquals } from '../../../runtime/graphql/statements/filter.ts'
import { ofMeant } from '../../../runtime/graphql/statements/meant.ts'
import { sameKeyTwice } from '../../../runtime/graphql/statements/reasons.ts'
import { setSql } from '../../../runtime/graphql/statements/set.ts'
import { ofKeyed, readFor, relationOf, seenOutside, type Writer } from '../../../runtime/graphql/statements/source.ts'
import type { WrittenRoot } from '../../../runtime/graphql/statements/statements.ts'
import { ofTenant, withKey } from '../../../runtime/graphql/statements/tenants.ts'
import { answerJson, limited, moreThan, noneChanged, refusing } from '../../../runtime/graphql/statements/writes.ts'
import type { Root } from '../../../runtime/graphql/plan/plan-nodes.ts'
import { bare } from '../../../runtime/sql/ident.ts'
import { object, toJson } from '../../../runtime/sql/json.ts'
import { joined, select, selectList, sql, type Cte, type From, type SelectList } from '../../../runtime/sql/tree.ts'
import type { RowChange, UpdateRows } from './plan.ts'

/** Changes by key (spec/graphql.md 17.4); change and answer are one statement, as those of the core. */
export function writeRoot(root: Root): WrittenRoot | null {
  if (root.kind === 'update-row' || root.kind === 'delete-row')
    return { steps: { statements: [(writer) => rowStatement(writer, root)] }, unchanged: 'null' }
  if (root.kind !== 'update-rows') return null
  return { steps: { statements: [(writer) => rowsStatement(writer, root)] }, unchanged: noneChanged(root) }
}

/**
 * One row by a key; null if it does not exist. The answer comes from RETURNING: the condition has read the key, so that
 * select policies hold for any selection.
 */
function rowStatement(writer: Writer, root: RowChange): SelectList {
  const inner = readFor(writer, root.entity, root)
  const changed = writer.alias('i')
  const [relation, answer] = [relationOf(inner.builder), bare('a')]
  const change =
    root.set.length > 0
      ? sql`update ${relation} ${inner.alias} set ${setSql(inner, root.set)}`
      : sql`delete from ${relation} ${inner.alias}`
  const json = toJson(writer.row(writer, root.row, withKey(inner, root.by, root.values), object))
  const where = joined(
    [
      keyEquals(root.by, root.values)(inner),
      ...ofKeyed(inner, root.by),
      ...ofMeant(inner, root.meant),
      ...ofTenant(inner),
    ],
    ' and ',
  )
  const of = sql`(${change} where ${where} returning ${json} as ${answer})`
  const found = select([{ value: answer }], { from: [{ of: changed }] })
  const checked = root.unique ? found : refusing(moreThan(changed, sql`1`), tooMany(root), found)
  return selectList([{ value: checked, as: bare('r') }], [{ name: changed, materialized: false, of }])
}

const tooMany = ({ kind }: RowChange): string =>
  `${kind === 'update-row' ? 'update' : 'delete'} impacts too many records`

const place = bare('n')

function rowsStatement(writer: Writer, root: UpdateRows): SelectList {
  const inner = readFor(writer, root.entity, root)
  const given = givenRows(inner, root, writer.alias('x'))
  const { scope, outlet } = seenOutside(inner, writer.alias('i'))
  const ordered: From = {
    of: select([{ value: sql`*` }], { from: [{ of: scope.alias }], orderBy: [place] }),
    alias: scope.alias,
  }
  const answer = limited(root, scope, answerJson(writer, root, scope, ordered))
  const checked = refusing(given.hasTwins, sameKeyTwice, answer)
  const where = joined([...given.isMeant, ...ofMeant(inner, root.meant), ...ofTenant(inner)], ' and ')
  const change = sql`update ${relationOf(inner.builder)} ${inner.alias} set ${joined(given.set, ', ')} from ${given.cte.name} where ${where}`
  const of = sql`(${change} returning ${outlet}, ${given.cte.name}.${place})`
  const changed: Cte = { name: scope.alias, materialized: false, of }
  return selectList([{ value: checked, as: bare('r') }], [given.cte, changed])
}
