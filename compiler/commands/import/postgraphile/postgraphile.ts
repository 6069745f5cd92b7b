import type { Catalog, CatalogRelation } from '../../../catalog/catalog.ts'
import { parseComment } from '../../../comments/settings.ts'
import type { JsonObject } from '../../../../runtime/lib/json.ts'
import { ident, qualified } from '../../../../runtime/sql/ident.ts'
import { singularOf } from '../../advise/annotate/names.ts'
import { commentOn, mergeWishes, type Commented, type Wish } from '../../advise/annotate/comments.ts'
import { commentStatements, schemaComment } from '../comment-statements.ts'
import { memberObject, memberList, NotCarried, type Imported } from '../imported.ts'
import { tagsOfComment, type SmartTags, type TaggedEntry } from './smart-tags.ts'

interface Tagged {
  readonly on: Commented
  /** For messages: `column public.person.email`. */
  readonly name: string
  readonly tags: SmartTags
  readonly description: string | null
}

const describe = (on: Commented): string => {
  switch (on.kind) {
    case 'relation':
      return `${on.relation.schema}.${on.relation.name}`
    case 'column':
      return `${on.relation.schema}.${on.relation.name}.${on.column}`
    case 'foreign key':
      return `${on.relation.schema}.${on.relation.name}.${on.constraint}`
    case 'type':
      return `${on.type.schema}.${on.type.name}`
    case 'function':
      return `${on.fn.schema}.${on.fn.name}`
  }
}

const kindWords: Readonly<Record<Commented['kind'], string>> = {
  relation: 'class',
  column: 'attribute',
  'foreign key': 'constraint',
  type: 'type',
  function: 'procedure',
}

const taggableObjects = ({ relations, types, functions }: Catalog): readonly Commented[] => [
  ...relations.flatMap((relation): readonly Commented[] => [
    { kind: 'relation', relation },
    ...relation.columns.map(({ name }) => ({ kind: 'column' as const, relation, column: name })),
    ...relation.foreignKeys.map(({ name }) => ({ kind: 'foreign key' as const, relation, constraint: name })),
  ]),
  ...types.filter(({ kind }) => kind !== 'b').map((type) => ({ kind: 'type' as const, type })),
  ...functions.map((fn) => ({ kind: 'function' as const, fn })),
]

/** Objects with tags in their comments or in the file, whose tags go before those of a comment. */
function taggedObjects(
  catalog: Catalog,
  entries: readonly TaggedEntry[],
): { readonly tagged: readonly Tagged[]; readonly left: readonly string[] } {
  const unused = new Set(entries)
  const tagged = taggableObjects(catalog).flatMap((on): readonly Tagged[] => {
    const [comment, path] = [tagsOfComment(commentOn(on)), describe(on)]
    const given = entries.filter(
      (one) => one.kind === kindWords[on.kind] && (one.path === path || one.path === path.slice(path.indexOf('.') + 1)),
    )
    for (const one of given) unused.delete(one)
    const tags = given.reduce<SmartTags>((all, one) => new Map([...all, ...one.tags]), comment.tags)
    const described = given.find(({ description }) => description !== null)?.description ?? null
    if (tags.size === 0 && described === null) return []
    const description = described ?? (comment.tags.size > 0 ? comment.rest : null)
    return [{ on, name: `${on.kind === 'relation' ? 'table' : on.kind} ${path}`, tags, description }]
  })
  const left = [...unused].flatMap(({ kind, path, tags, description }) =>
    tags.size === 0 && description === null ? [] : [`${kind} ${path}: the served schemas have no such object`],
  )
  return { tagged, left }
}

const words = (name: string): readonly string[] =>
  name.split(/[^A-Za-z0-9]+|(?<=[a-z0-9])(?=[A-Z])/).filter((word) => word !== '')
const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1)

/** As PostGraphile inflects names of tags. */
const upperCamel = (name: string): string => words(name).map(capital).join('')
const lowerCamel = (name: string): string => {
  const camel = upperCamel(name)
  return camel.charAt(0).toLowerCase() + camel.slice(1)
}

const names = (text: string): readonly string[] =>
  text
    .split(',')
    .map((one) => one.trim().replace(/^"(.*)"$/, '$1'))
    .filter((one) => one !== '')

/** `(a, b) references schema.table (c, d)|@fieldName x|@foreignFieldName y`. */
function foreignKeyOf(text: string, relation: CatalogRelation, { relations }: Catalog): JsonObject {
  const [key = '', ...options] = text.split('|')
  const name = '(?:"[^"]+"|[\\w$]+)'
  const pattern = new RegExp(
    `^\\(([^)]*)\\)\\s+references\\s+(?:(${name})\\.)?(${name})\\s*(?:\\(([^)]*)\\))?\\s*$`,
    'i',
  )
  const [, columns, schema = relation.schema, table, foreign] = pattern.exec(key.trim()) ?? []
  if (columns === undefined || table === undefined)
    throw new NotCarried('it is not of the form (column) references table (column)')
  const [[foreignSchema = ''], [foreignTable = '']] = [names(schema), names(table)]
  const target = relations.find((one) => one.schema === foreignSchema && one.name === foreignTable)
  if (target === undefined) throw new NotCarried(`the served schemas have no table ${foreignSchema}.${foreignTable}`)
  const foreignColumns = foreign === undefined ? (target.primaryKey ?? []) : names(foreign)
  const { tags } = tagsOfComment(options.join('\n'))
  const [own, other] = [tags.get('fieldName')?.[0], reverseName(tags)]
  return {
    local_columns: names(columns),
    foreign_schema: foreignSchema,
    foreign_table: foreignTable,
    foreign_columns: foreignColumns,
    ...(own !== undefined && { foreign_name: lowerCamel(own) }),
    ...(other !== undefined && { local_name: lowerCamel(other) }),
  }
}

const reverseName = (tags: SmartTags): string | undefined =>
  ['foreignFieldName', 'foreignSingleFieldName', 'foreignConnectionFieldName', 'foreignSimpleFieldName'].flatMap(
    (name) => tags.get(name) ?? [],
  )[0]

type Omitted = 'create' | 'read' | 'update' | 'delete'

const omittedWords: Readonly<Record<string, Omitted>> = {
  create: 'create',
  read: 'read',
  update: 'update',
  delete: 'delete',
  insert: 'create',
  select: 'read',
}
const everything: readonly string[] = ['create', 'read', 'update', 'delete']

interface Omission {
  readonly omitted: ReadonlySet<Omitted>
  /** Words without a meaning here. */
  readonly others: readonly string[]
}

/** `@omit` with a list or for all, and the negative words of `@behavior`. */
function omissionOf(tags: SmartTags): Omission {
  const omit = (tags.get('omit') ?? []).flatMap((value) =>
    value === '' || value === '*' ? everything : names(value.replace(/^:/, '')),
  )
  const behavior = ['behavior', 'behaviour']
    .flatMap((name) => tags.get(name) ?? [])
    .flatMap((value) => value.split(/\s+/))
    .filter((word) => word.startsWith('-'))
    .flatMap((word) => (word === '-*' ? everything : [word.slice(1).split(':').at(-1) ?? '']))
  const all: readonly string[] = [...omit, ...behavior]
  const isKnown = (word: string): boolean => Object.hasOwn(omittedWords, word)
  return {
    omitted: new Set(all.flatMap((word) => omittedWords[word] ?? [])),
    // A table that is not read has no lists.
    others: all.filter((word) => !isKnown(word) && !(all.includes('read') && /^(?:all|many)$/.test(word))),
  }
}

interface Result {
  readonly settings: JsonObject
  readonly left: readonly string[]
}

/** Tags that are read; all others are listed. */
const readTags = new Set([
  'name',
  'deprecated',
  'omit',
  'behavior',
  'behaviour',
  'primaryKey',
  'foreignKey',
  'fieldName',
  'foreignFieldName',
  'foreignSingleFieldName',
  'foreignConnectionFieldName',
  'foreignSimpleFieldName',
])

const deprecation = (tags: SmartTags): JsonObject => {
  const reason = tags
    .get('deprecated')
    ?.filter((line) => line !== '')
    .join('\n')
  return reason === undefined || reason === '' ? {} : { deprecated: reason }
}

const inCamel: Readonly<Record<Commented['kind'], (name: string) => string>> = {
  relation: (name) => singularOf(upperCamel(name)),
  type: upperCamel,
  column: lowerCamel,
  function: lowerCamel,
  'foreign key': lowerCamel,
}

const privileges: Readonly<Record<Omitted, string>> = {
  create: 'insert',
  read: 'select',
  update: 'update',
  delete: 'delete',
}

/** Grants decide what a role does with a table: the statement that takes it from those that have it. */
function revokeLines({ relation }: Extract<Commented, { kind: 'relation' }>, { omitted }: Omission): readonly string[] {
  const words = [...omitted].map((one) => privileges[one])
  const holders = relation.grants.filter(
    ({ grantee, privileges: held }) =>
      grantee !== relation.owner && words.some((word) => held.includes(word.toUpperCase())),
  )
  if (words.length === 0 || holders.length === 0) return []
  const from = holders.map(({ grantee }) => (grantee === 'public' ? 'public' : ident(grantee))).join(', ')
  return [
    `omitted for ${[...omitted].join(', ')}: grants decide that here: revoke ${words.join(', ')} on ${qualified(relation.schema, relation.name)} from ${from};`,
  ]
}

function relationResult(on: Extract<Commented, { kind: 'relation' }>, tags: SmartTags, catalog: Catalog): Result {
  const left: string[] = [...revokeLines(on, omissionOf(tags))]
  const keys = (tags.get('foreignKey') ?? []).flatMap((text) => {
    try {
      return [foreignKeyOf(text, on.relation, catalog)]
    } catch (error) {
      if (!(error instanceof NotCarried)) throw error
      left.push(`@foreignKey ${text}: ${error.message}`)
      return []
    }
  })
  const key = names(tags.get('primaryKey')?.[0] ?? '')
  if (key.length > 0 && on.relation.primaryKey !== null)
    left.push('@primaryKey: the table has one, which is its key here')
  const parsed = parseComment(on.relation.comment)
  const present = parsed.kind === 'settings' ? memberList(parsed.settings, 'foreign_keys') : []
  const isOther = (one: unknown): boolean =>
    !keys.some(
      (made) =>
        JSON.stringify(made['local_columns']) === JSON.stringify(memberList(one, 'local_columns')) &&
        made['foreign_table'] === (one as JsonObject)['foreign_table'],
    )
  return {
    settings: {
      ...(key.length > 0 && on.relation.primaryKey === null && { primary_key_columns: key }),
      ...(keys.length > 0 && { foreign_keys: [...present.filter(isOther), ...keys] }),
    },
    left,
  }
}

function keyResult(tags: SmartTags): Result {
  const [own, other] = [tags.get('fieldName')?.[0], reverseName(tags)]
  const settings = {
    ...(own !== undefined && { foreign_name: lowerCamel(own) }),
    ...(other !== undefined && { local_name: lowerCamel(other) }),
  }
  const { omitted } = omissionOf(tags)
  return { settings, left: omitted.size === 0 ? [] : ['omitted: a relation is there where its columns are granted'] }
}

function tagResult(on: Commented, tags: SmartTags, catalog: Catalog): Result {
  if (on.kind === 'relation') return relationResult(on, tags, catalog)
  if (on.kind === 'foreign key') return keyResult(tags)
  const { omitted } = omissionOf(tags)
  const isHidden = on.kind === 'function' && (omitted.size > 0 || omissionOf(tags).others.includes('execute'))
  return {
    settings: {},
    left: isHidden
      ? [
          `omitted: grants decide that here: revoke execute on function ${qualified(on.fn.schema, on.fn.name)} from public;`,
        ]
      : [],
  }
}

/** Columns that a table's inputs or answers lack, for all roles. */
function columnAccess(columns: readonly Tagged[]): { readonly settings: JsonObject; readonly left: readonly string[] } {
  const [readOnly, writeOnly, left] = [[] as string[], [] as string[], [] as string[]]
  for (const { on, name, tags } of columns) {
    if (on.kind !== 'column') continue
    const { omitted } = omissionOf(tags)
    if (omitted.has('create') && omitted.has('update')) readOnly.push(on.column)
    else if (omitted.has('create') || omitted.has('update'))
      left.push(
        `${name}: omitted for ${omitted.has('create') ? 'create' : 'update'} alone: readOnly is for both; revoke the privilege on the column instead`,
      )
    if (omitted.has('read')) writeOnly.push(on.column)
  }
  const listed = (setting: string, names: readonly string[]): JsonObject =>
    names.length === 0 ? {} : { [setting]: { public: names } }
  return { settings: { ...listed('readOnly', readOnly), ...listed('writeOnly', writeOnly) }, left }
}

const settingsFor = (on: Commented, { tags, description }: Tagged): JsonObject => {
  const name = tags.get('name')?.[0]
  return {
    ...(name !== undefined && name !== '' && on.kind !== 'foreign key' && { name: inCamel[on.kind](name) }),
    ...(on.kind === 'relation' || on.kind === 'column' || on.kind === 'function' ? deprecation(tags) : {}),
    ...(description !== null && on.kind !== 'foreign key' && on.kind !== 'type' && { description }),
  }
}

/** Access to columns as other settings of the comment already have it stays. */
function accessWishes(tagged: readonly Tagged[]): {
  readonly wishes: readonly Wish[]
  readonly left: readonly string[]
} {
  const relations = new Set(tagged.flatMap(({ on }) => (on.kind === 'column' ? on.relation : [])))
  const parts = [...relations].map((relation) => {
    const { settings, left } = columnAccess(tagged.filter(({ on }) => on.kind === 'column' && on.relation === relation))
    const parsed = parseComment(relation.comment)
    const present = parsed.kind === 'settings' ? parsed.settings : {}
    const merged = Object.fromEntries(
      Object.entries(settings).map(([name, value]) => [
        name,
        { ...memberObject(present, name), ...(value as JsonObject) },
      ]),
    )
    const wishes: readonly Wish[] =
      Object.keys(merged).length === 0 ? [] : [{ on: { kind: 'relation', relation }, settings: merged }]
    return { wishes, left }
  })
  return { wishes: parts.flatMap(({ wishes }) => wishes), left: parts.flatMap(({ left }) => left) }
}

/** Policies and functions that read claims as PostGraphile sets them, by their names. */
export interface ClaimReader {
  readonly name: string
  readonly setting: string
}

/**
 * Comments for smart tags (PostGraphile 4 and 5) of the catalogue's comments and of a file. Tags of comments stay, so
 * that PostGraphile can go on beside.
 */
export function importPostgraphile(
  catalog: Catalog,
  entries: readonly TaggedEntry[],
  readers: readonly ClaimReader[],
  strays: readonly string[],
): Imported {
  const { tagged, left } = taggedObjects(catalog, entries)
  const results = tagged.map((one) => ({ one, ...tagResult(one.on, one.tags, catalog) }))
  const access = accessWishes(tagged)
  const wishes = results.map(({ one, settings }): Wish => ({
    on: one.on,
    settings: { ...settingsFor(one.on, one), ...settings },
  }))
  const comments = mergeWishes(new Map(), [
    ...wishes.filter(({ settings }) => Object.keys(settings).length > 0),
    ...access.wishes,
  ])
  const statements = [
    ...commentStatements(comments),
    ...catalog.schemas.flatMap((schema) => schemaComment(schema, { inflect_names: true, introspection: true })),
  ]
  const others = tagged.flatMap(({ name, tags }) => [
    ...[...tags]
      .filter(([tag]) => !readTags.has(tag))
      .map(([tag, values]) => `${name}: @${tag} ${values.join(', ')}`.trimEnd()),
    ...omissionOf(tags)
      .others.filter((word) => word !== 'execute')
      .map((word) => `${name}: omitted for ${word}`),
  ])
  return {
    summary: `${comments.size} comments for the tags of ${tagged.length} objects.`,
    statements,
    left: [
      ...left,
      ...results.flatMap(({ one, left: own }) => own.map((line) => `${one.name}: ${line}`)),
      ...access.left,
      ...others,
      ...strays,
      ...readers.map(
        ({ name, setting }) =>
          `${name} reads ${setting}, which is ${setting.replace(/^jwt\.claims\./, 'request.jwt.claim.')} here`,
      ),
    ],
  }
}
