import type {
  Manifest,
  ColumnFacts,
  EntityFacts,
  RelationFacts,
  UnionFacts,
} from '../../../../runtime/contract/manifest.ts'
import type { Query } from '../../../../runtime/db/connect/session.ts'
import { type ListTable, governingList } from '../../../../runtime/graphql/allowlist/admission.ts'
import { qualified } from '../../../../runtime/sql/ident.ts'
import type { GivenDocument } from './document-changes.ts'
import type { AllowlistFacts, LimitFacts } from '../../../../runtime/contract/guards.ts'
import { refusalOf } from '../../../../runtime/contract/facts.ts'
import { defaultFilterOf, defaultOrderOf } from '../../../../runtime/engine/visible.ts'
import { relationsBut, unionRelations } from '../../../../runtime/engine/related.ts'
import { collectedBy, collectedInterfaces } from '../../../../runtime/engine/schema/interface-collections.ts'
import type { RoleView } from '../../../../runtime/engine/schema/schema.ts'
import { additions } from '../../../additions/table.ts'
import type { ApiChange } from './change.ts'

/** Further ones of a list are not judged. */
const mostListed = 5_000

interface Listed {
  readonly hash: string
  readonly document: string
}

/**
 * The documents of allow-lists (spec/graphql.md 17, `allowlist`), for the roles that each list governs. Rejects with
 * DatabaseFailure if the connection's role may not read a list.
 */
export async function listedDocuments(query: Query, { allowlists = [] }: Manifest): Promise<readonly GivenDocument[]> {
  const found: GivenDocument[] = []
  for (const { table, roles } of allowlists) {
    if (table === null) continue
    const listed = await readList(query, table, mostListed)
    found.push(...listed.map(({ hash, document }) => ({ source: listedName(hash, document), text: document, roles })))
  }
  return found
}

/**
 * The content of a list, in the order of the hashes.
 * @param most null: all of it
 */
export async function readList(query: Query, table: ListTable, most: number | null): Promise<readonly Listed[]> {
  const from = qualified(table.schema, table.name)
  const { rows } = await query<Listed>(
    `select hash::text, document::text from ${from} order by hash limit ${most ?? 'null'}`,
  )
  return rows
}

export const listedName = (hash: string, document: string): string =>
  `listed ${hash.slice(0, 12)} ${beginningOf(document)}`

export const beginningOf = (document: string): string => document.replaceAll(/\s+/g, ' ').trim().slice(0, 60)

/** Changes that no type shows, but that change the answers of documents. */
export function settingChanges(before: RoleView, after: RoleView): readonly ApiChange[] {
  return rules.flatMap((rule) => rule(before, after))
}

type Rule = (before: RoleView, after: RoleView) => readonly ApiChange[]

const changeIf = (
  isSo: boolean,
  kind: string,
  description: string,
  severity: ApiChange['severity'] = 'dangerous',
): readonly ApiChange[] => (isSo ? [{ severity, kind, description }] : [])

type PairRule = (old: EntityFacts, now: EntityFacts, before: RoleView, after: RoleView) => readonly ApiChange[]

/** For relations with the same type before and after. */
const ofPairs =
  (rule: PairRule): Rule =>
  (before, after) =>
    after.visible.exposed.flatMap((now) => {
      const old = before.visible.exposed.find(({ name }) => name === now.name)
      return old === undefined ? [] : rule(old, now, before, after)
    })

const rules: readonly Rule[] = [
  ({ visible: before }, { visible: after }) => {
    const refusal = refusalOf(after.manifest, after.role)
    const isNew = refusal !== null && refusalOf(before.manifest, before.role) === null
    return changeIf(isNew, 'EVERYTHING_REFUSED', `A comment makes every request fail: ${refusal}`, 'breaking')
  },
  (before, after) => {
    const table = allowlistOf(after)?.table
    const name = table === null || table === undefined ? 'a table that is not named' : `${table.schema}.${table.name}`
    const isNew = allowlistOf(before) === undefined && allowlistOf(after) !== undefined
    return changeIf(isNew, 'ALLOWLIST_ADDED', `Only documents that ${name} lists run.`, 'breaking')
  },
  (before, after) => [
    ...limitChange((most) => `A document may have at most ${most} selections.`, 'fields', before, after),
    ...limitChange((most) => `A document may have at most ${most} rows.`, 'rows', before, after),
    ...limitChange((most) => `A document may cost at most ${most}.`, 'cost', before, after),
  ],
  (before, after) =>
    changeIf(before.introspection && !after.introspection, 'INTROSPECTION_OFF', 'Introspection is off.'),
  ({ visible: before }, { visible: after }) =>
    changeIf(
      !before.manifest.validation && after.manifest.validation,
      'VALIDATION_ON',
      'Documents that break rules of the specification are refused.',
    ),
  ofPairs((old, now) =>
    changeIf(
      now.maxRows < old.maxRows,
      'PAGES_SMALLER',
      `Pages of ${now.name} hold at most ${now.maxRows} rows, no longer ${old.maxRows}.`,
    ),
  ),
  ofPairs((old, now) => now.columns.flatMap((column) => inputChanges(now, sameColumn(old, column), column))),
  ofPairs((old, now, before, after) => {
    const wasSorted = defaultOrderOf(before.visible, old).length > 0
    const isSorted = defaultOrderOf(after.visible, now).length > 0
    return changeIf(
      wasSorted !== isSorted,
      'DEFAULT_ORDER_CHANGED',
      `Collections of ${now.name} have ${isSorted ? 'a' : 'no'} default order now: rows come in another one, and kept cursors lead elsewhere.`,
    )
  }),
  ofPairs((old, now, before, after) => {
    const wasChosen = defaultFilterOf(before.visible, old).length > 0
    const isChosen = defaultFilterOf(after.visible, now).length > 0
    return changeIf(
      wasChosen !== isChosen,
      'DEFAULT_FILTER_CHANGED',
      `Collections of ${now.name} have ${isChosen ? 'a' : 'no'} default filter now: they hold other rows.`,
    )
  }),
  ofPairs((old, now) =>
    additions.flatMap((one) => {
      const change = one.changes?.(old, now) ?? null
      return change === null ? [] : [{ severity: 'dangerous', ...change }]
    }),
  ),
  ofPairs((old, now, before, after) => {
    const led = relationsBut(before.visible, old, [])
    return [...relationsBut(after.visible, now, [])].flatMap(([field, { relation }]) => {
      const was = led.get(field)?.relation
      return changeIf(
        was !== undefined && was.target === relation.target && wayOf(was) !== wayOf(relation),
        'WAY_CHANGED',
        `${now.name}.${field} leads another way now: it holds other rows.`,
      )
    })
  }),
  ofPairs((old, now, before, after) =>
    (now.unions ?? []).flatMap((union) => {
      const was = old.unions?.find(({ field }) => field === union.field)
      return changeIf(
        was !== undefined && ledBy(before, old, was) !== ledBy(after, now, union),
        'UNION_CHANGED',
        `${now.name}.${union.field} leads by other relations now: it may hold other rows.`,
      )
    }),
  ),
  ({ visible: before }, { visible: after }) =>
    collectedInterfaces(after).flatMap((name) => {
      const [was, is] = [collectedBy(before, name), collectedBy(after, name)].map((of) =>
        of.map((one) => one.name).join(),
      )
      return changeIf(
        was !== '' && was !== is,
        'COLLECTION_CHANGED',
        `The collection of ${name} has rows of other tables now.`,
      )
    }),
  ofPairs((old, now) =>
    changeIf(
      identityOf(old) !== identityOf(now),
      'NODE_IDS_CHANGED',
      `Node ids of ${now.name} are others: those that clients kept lead nowhere.`,
    ),
  ),
]

/** The intermediate relations and conditions, whatever columns join them. */
const wayOf = ({ way }: RelationFacts): string =>
  JSON.stringify([way?.through.map(({ entity, where }) => [entity, where]) ?? [], way?.where])

const ledBy = ({ visible }: RoleView, entity: EntityFacts, union: UnionFacts): string =>
  JSON.stringify(
    unionRelations(visible, entity, union).map(({ relation }) => [
      relation.target,
      relation.local,
      relation.foreign,
      wayOf(relation),
    ]),
  )

/** Of columns that share a field the same one, else the last, which is served. */
function sameColumn({ columns }: EntityFacts, { column, field }: ColumnFacts): ColumnFacts | undefined {
  const alike = columns.filter((one) => one.field === field)
  return alike.find((one) => one.column === column) ?? alike.at(-1)
}

/** Former inputs of a column; input types look the same. */
function inputChanges(entity: EntityFacts, old: ColumnFacts | undefined, now: ColumnFacts): readonly ApiChange[] {
  if (old === undefined || now.field === null || !now.input) return []
  const name = `${entity.name}.${now.field}`
  const { maxLength } = now
  const isShorter = maxLength !== null && maxLength < (old.maxLength ?? Number.POSITIVE_INFINITY)
  return [
    ...changeIf(now.notNull && !old.notNull, 'NULL_REFUSED', `${name} can be null no longer: null is refused.`),
    ...changeIf(isShorter, 'TEXTS_SHORTER', `${name} takes at most ${maxLength} characters.`),
  ]
}

const allowlistOf = ({ role, visible: { manifest } }: RoleView): AllowlistFacts | undefined =>
  governingList(manifest, role)

function limitChange(
  sentence: (most: number) => string,
  key: keyof LimitFacts,
  before: RoleView,
  after: RoleView,
): readonly ApiChange[] {
  const limitOf = ({ visible: { manifest } }: RoleView): number => manifest.limits?.[key] ?? Number.POSITIVE_INFINITY
  const now = limitOf(after)
  return changeIf(now < limitOf(before), 'LIMIT_LOWERED', sentence(now))
}

/** The parts of a node id (spec/graphql.md 1.2). */
const identityOf = ({ schema, relation, key }: EntityFacts): string => JSON.stringify([schema, relation, key])
