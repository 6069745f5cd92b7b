import type { CatalogFunction, CatalogRelation } from '../../../catalog/catalog.ts'
import { parseComment } from '../../../comments/settings.ts'
import type { JsonObject } from '../../../../runtime/lib/json.ts'
import { commentOn, type Commented, type Wish } from '../../advise/annotate/comments.ts'
import { memberObject, memberObjects, memberList, memberText } from '../imported.ts'
import type { CarriedPermission } from './permissions.ts'
import { textOfName, type Relationship, type TrackedTable, type World } from './tables.ts'

/** Comments for the tracked tables, and the rest that comments cannot say. */
export interface Naming {
  readonly wishes: readonly Wish[]
  readonly left: readonly string[]
}

const settingsIn = (on: Commented): JsonObject => {
  const parsed = parseComment(commentOn(on))
  return parsed.kind === 'settings' ? parsed.settings : {}
}

/** Two tables that columns join, by a constraint or by the metadata alone, with the names of both directions. */
interface Link {
  readonly child: CatalogRelation
  readonly parent: CatalogRelation
  readonly columns: readonly string[]
  readonly foreignColumns: readonly string[]
  readonly constraint: string | null
  forward: string | null
  reverse: string | null
}

const samePairs = (
  some: readonly string[],
  more: readonly string[],
  pairs: readonly (readonly [string, string])[],
): boolean =>
  some.length === pairs.length && pairs.every(([a, b]) => some.some((one, index) => one === a && more[index] === b))

function linkOf(
  from: CatalogRelation,
  to: CatalogRelation,
  { kind, leads }: Relationship,
): [Link, 'forward' | 'reverse'] {
  const pairs = leads?.pairs ?? []
  const back = pairs.map(([local, foreign]) => [foreign, local] as const)
  const find = (child: CatalogRelation, parent: CatalogRelation, over: typeof pairs) =>
    child.foreignKeys.find(
      (key) =>
        key.foreignSchema === parent.schema &&
        key.foreignRelation === parent.name &&
        samePairs(key.columns, key.foreignColumns, over),
    )
  const [own, other] = [find(from, to, pairs), find(to, from, back)]
  const isForward =
    own !== undefined && (kind === 'object' || other === undefined) ? true : other === undefined && kind === 'object'
  const [child, parent, over, key] = isForward ? [from, to, pairs, own] : [to, from, back, other]
  const link = {
    child,
    parent,
    columns: key?.columns ?? over.map(([one]) => one),
    foreignColumns: key?.foreignColumns ?? over.map(([, one]) => one),
    constraint: key?.name ?? null,
    forward: null,
    reverse: null,
  }
  return [link, isForward ? 'forward' : 'reverse']
}

function linksOf(world: World): { readonly links: readonly Link[]; readonly left: readonly string[] } {
  const [links, left] = [new Map<string, Link>(), [] as string[]]
  for (const table of world.tables.values())
    for (const relationship of table.relationships.values()) {
      const { name, leads, lack } = relationship
      const target = leads === null ? undefined : world.relation(leads.target)
      if (target === undefined) {
        left.push(`relationship ${textOfName(table)}.${name}: ${lack || 'the table that it leads to is not there'}`)
        continue
      }
      const [made, direction] = linkOf(table.relation, target, relationship)
      const key = JSON.stringify([textOfName(made.child), textOfName(made.parent), made.columns, made.foreignColumns])
      const link = links.get(key) ?? made
      links.set(key, link)
      const known = link[direction]
      if (known !== null) left.push(`relationship ${textOfName(table)}.${name}: the same rows are ${known} already`)
      else link[direction] = name
    }
  return { links: [...links.values()], left }
}

const linkNames = ({ forward, reverse }: Link): JsonObject => ({
  ...(forward !== null && { foreign_name: forward }),
  ...(reverse !== null && { local_name: reverse }),
})

function linkWishes(links: readonly Link[]): readonly Wish[] {
  const constraints = links.flatMap((link): readonly Wish[] =>
    link.constraint === null
      ? []
      : [{ on: { kind: 'foreign key', relation: link.child, constraint: link.constraint }, settings: linkNames(link) }],
  )
  const children = new Set(links.flatMap(({ child, constraint }) => (constraint === null ? child : [])))
  return [
    ...constraints,
    ...[...children].map((child) => ({
      on: { kind: 'relation' as const, relation: child },
      settings: { foreign_keys: declared(child, links) },
    })),
  ]
}

/** The keys that only a comment declares, beside those that it declares already. */
function declared(child: CatalogRelation, links: readonly Link[]): readonly JsonObject[] {
  const own = links
    .filter((link) => link.child === child && link.constraint === null)
    .map((link) => ({
      local_columns: link.columns,
      foreign_schema: link.parent.schema,
      foreign_table: link.parent.name,
      foreign_columns: link.foreignColumns,
      ...linkNames(link),
    }))
  const present = memberObjects(settingsIn({ kind: 'relation', relation: child }), 'foreign_keys')
  const keyOf = (one: JsonObject): string =>
    JSON.stringify([one['local_columns'], one['foreign_schema'], one['foreign_table'], one['foreign_columns']])
  const keys = new Set(own.map(keyOf))
  return [...present.filter((one) => !keys.has(keyOf(one))), ...own]
}

/** By role, as the setting `preset` takes them. */
function presetSettings(carried: readonly CarriedPermission[], roleOf: (role: string) => string): JsonObject {
  const roles: Record<string, Record<string, Record<string, string>>> = {}
  for (const { permission, presets } of carried)
    for (const [column, expression] of presets) {
      const role = (roles[roleOf(permission.role)] ??= {})
      role[column] = { ...role[column], [permission.command]: expression }
    }
  return roles
}

function tableSettings(
  table: TrackedTable,
  carried: readonly CarriedPermission[],
  roleOf: (role: string) => string,
): JsonObject {
  const on = { kind: 'relation', relation: table.relation } as const
  const present = settingsIn(on)
  const configuration = memberObject(table.metadata, 'configuration')
  const selects = carried.filter(({ permission }) => permission.command === 'select')
  const limits = selects.map(({ permission }) => permission.rule['limit'])
  const numbers = limits.filter((limit) => typeof limit === 'number')
  const presets = presetSettings(carried, roleOf)
  const hidden = Object.fromEntries(
    selects.flatMap(({ permission, hidden }) =>
      hidden.length > 0 ? [[roleOf(permission.role), hidden] as const] : [],
    ),
  )
  const isCounted = selects.some(({ permission }) => permission.rule['allow_aggregations'] === true)
  const isReached =
    selects.length > 0 &&
    selects.every(
      ({ permission: { rule } }) => Array.isArray(rule['query_root_fields']) && rule['query_root_fields'].length === 0,
    )
  const [name, comment] = [memberText(configuration, 'custom_name'), memberText(configuration, 'comment')]
  return {
    ...(name !== null && { name }),
    ...(comment !== null && { description: comment }),
    ...(isCounted && { totalCount: { enabled: true }, aggregate: { enabled: true } }),
    ...(numbers.length > 0 && numbers.length === limits.length && { max_rows: Math.max(...numbers) }),
    ...(isReached && { root: { enabled: false } }),
    ...(Object.keys(presets).length > 0 && { preset: { ...memberObject(present, 'preset'), ...presets } }),
    ...(Object.keys(hidden).length > 0 && { writeOnly: { ...memberObject(present, 'writeOnly'), ...hidden } }),
  }
}

function columnWishes(table: TrackedTable): readonly Wish[] {
  const configuration = memberObject(table.metadata, 'configuration')
  const names = memberObject(configuration, 'custom_column_names')
  return table.relation.columns.flatMap(({ name: column }) => {
    const config = memberObject(memberObject(configuration, 'column_config'), column)
    const name = memberText(config, 'custom_name') ?? memberText(names, column)
    const description = memberText(config, 'comment')
    const settings = { ...(name !== null && { name }), ...(description !== null && { description }) }
    return Object.keys(settings).length === 0
      ? []
      : [{ on: { kind: 'column', relation: table.relation, column } as const, settings }]
  })
}

/** Computed fields are named after their functions, and so are the functions of the root. */
export const functionWish = (fn: CatalogFunction, name: string | null): readonly Wish[] =>
  name === null || name === fn.name ? [] : [{ on: { kind: 'function', fn }, settings: { name } }]

/** The rest of a table's metadata beside names, relationships and permissions, as lines. */
function leftOfTable(table: TrackedTable, carried: readonly CarriedPermission[]): readonly string[] {
  const { metadata } = table
  const of = (what: string, why: string): string => `table ${textOfName(table)}: ${what}: ${why}`
  const named = (member: string): string =>
    memberObjects(metadata, member)
      .map((one) => memberText(one, 'name') ?? '')
      .join(', ')
  const roots = Object.entries(memberObject(memberObject(metadata, 'configuration'), 'custom_root_fields')).flatMap(
    ([kind, value]) => {
      const name = typeof value === 'string' ? value : memberText(value, 'name')
      return name === null || name === '' ? [] : [`${kind}: ${name}`]
    },
  )
  const [remote, events] = [named('remote_relationships'), named('event_triggers')]
  const selects = carried.filter(({ permission }) => permission.command === 'select')
  const most = Math.max(0, ...selects.map(({ permission: { rule } }) => Number(rule['limit'] ?? Infinity)))
  return [
    ...(roots.length > 0 ? [of(`root fields ${roots.join(', ')}`, 'root fields are named after the type')] : []),
    ...(metadata['is_enum'] === true ? [of('enum', 'it stays a table; a column that refers to it is a text')] : []),
    ...(remote === '' ? [] : [of(`remote relationships ${remote}`, 'there are none')]),
    ...(events === ''
      ? []
      : [of(`event triggers ${events}`, 'nothing is called on changes; use triggers of Postgres')]),
    ...selects.flatMap(({ permission: { role, rule }, hidden }) => [
      ...(typeof rule['limit'] === 'number' && rule['limit'] < most
        ? [of(`limit ${rule['limit']} of ${role}`, 'max_rows is for all roles of a table')]
        : []),
      ...(hidden.length > 0
        ? [
            of(
              `${hidden.join(', ')} of ${role}`,
              'granted, since rows are found or related by it; writeOnly keeps it out of answers, node ids contain keys',
            ),
          ]
        : []),
    ]),
    ...carried.flatMap(({ permission: { role, command, rule } }) =>
      rule['validate_input'] === undefined
        ? []
        : [of(`validation of ${role}, ${command}`, 'nothing is called before a write; use a check')],
    ),
  ]
}

export function namingOf(
  world: World,
  carried: readonly CarriedPermission[],
  roleOf: (role: string) => string,
): Naming {
  const { links, left } = linksOf(world)
  const tables = [...world.tables.values()].map((table) => ({
    table,
    own: carried.filter(({ permission }) => permission.table === table),
  }))
  return {
    wishes: [
      ...tables.flatMap(({ table, own }): readonly Wish[] => {
        const settings = tableSettings(table, own, roleOf)
        const of: readonly Wish[] =
          Object.keys(settings).length === 0 ? [] : [{ on: { kind: 'relation', relation: table.relation }, settings }]
        return [...of, ...columnWishes(table)]
      }),
      ...linkWishes(links),
    ],
    left: [...left, ...tables.flatMap(({ table, own }) => leftOfTable(table, own)), ...presetConflicts(carried)],
  }
}

/** A preset column is in no input, so that an insert cannot give what only updates set. */
const presetConflicts = (carried: readonly CarriedPermission[]): readonly string[] =>
  carried.flatMap(({ permission: { table, role, command }, presets }) =>
    carried.flatMap(({ permission: other }) =>
      other.table === table && other.role === role && other.command !== command && other.command !== 'select'
        ? [...presets.keys()].flatMap((column) =>
            memberList(other.rule, 'columns').includes(column)
              ? [
                  `table ${textOfName(table)}: column ${column} of ${role}, ${other.command}: ${command} presets it, so that clients cannot give it`,
                ]
              : [],
          )
        : [],
    ),
  )
