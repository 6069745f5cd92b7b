import { compareBytes } from '../../runtime/lib/text.ts'
import { once, createLru } from '../../runtime/lib/caches.ts'
import { withoutMemory, type Memo } from '../../runtime/lib/memo/memo.ts'
import { type Steps, inTurns } from '../../runtime/lib/steps.ts'
import {
  type Catalog,
  type CatalogColumn,
  type CatalogForeignKey,
  type CatalogFunction,
  type CatalogGrant,
  type CatalogMember,
  type CatalogRelation,
  type CatalogSchema,
  type CatalogType,
  nameColumn,
  nameConstraint,
  nameType,
  nameFunction,
  nameRelation,
  nameSchema,
} from '../catalog/catalog.ts'
import type { Diagnostic } from '../../runtime/contract/manifest.ts'
import { present, diagnose } from '../catalog/diagnostics/diagnostics.ts'
import { readComment, type KeyTable, type SettingRefusal } from './settings.ts'
import type {
  Annotated,
  AnnotatedColumn,
  AnnotatedForeignKey,
  AnnotatedFunction,
  AnnotatedRelation,
  AnnotatedSchema,
  AnnotatedType,
  SchemaRefusal,
  StatedAccess,
} from './annotated.ts'
import { isDeepStrictEqual } from 'node:util'
import type { ColumnAccess, SetExpressions } from './column-access.ts'
import { expressionProblem, type ParseTree } from './expressions.ts'

/** An object with its settings, and the diagnostics of its comment and of its parts' comments. */
interface Read<T> {
  readonly object: T
  readonly refusals: readonly SettingRefusal[]
  readonly diagnostics: readonly Diagnostic[]
}

const readOf = <T>({ refusals, diagnostics }: Omit<Read<unknown>, 'object'>, object: T): Read<T> => ({
  object,
  refusals,
  diagnostics,
})

/** A catalogue with its settings, and the diagnostics of its comments. */
export interface Noted {
  readonly annotated: Annotated
  readonly diagnostics: readonly Diagnostic[]
}

/**
 * Replaces comment texts by decoded settings. A malformed comment refuses every request of roles with USAGE on its
 * schema: `refusals` contain the answers (spec/graphql.md 13.1).
 */
export function* annotate(catalog: Catalog, table: KeyTable, memo: Memo = withoutMemory): Steps<Noted> {
  const schemas = yield* memo.each(annotateSchema, catalog.schemas, table)
  const members = catalog.members === undefined ? noMembers : memo.of(extensionMembers, catalog.members)
  const kept = withoutHidden(catalog, schemas, members, table)
  const relations = yield* memo.each(annotateRelation, kept.relations, table, members, memo)
  const functions = yield* memo.each(annotateFunction, kept.functions, table, members)
  const composites = schemas.some(({ object }) => says(table, object, 'namesComposites'))
  const types = yield* memo.each(annotateType, catalog.types, table, composites)
  const { strays = [], members: _, ...served } = catalog
  const diagnostics = once(() => [
    ...[...schemas, ...relations, ...functions, ...types].flatMap((read) => read.diagnostics),
    ...strays.flatMap(({ object, comment }) => strayDiagnostics(table, object, comment)),
  ])
  const refused = [
    ...memo.of(present<Refused>, yield* memo.map(refusedIn.schemas, schemas)),
    ...memo.of(present<Refused>, yield* memo.map(refusedIn.functions, functions)),
    ...memo.of(present<Refused>, yield* memo.map(refusedIn.types, types)),
    ...memo.of(present<Refused>, yield* memo.map(refusedIn.relations, relations)),
  ]
  return {
    annotated: {
      ...served,
      schemas: yield* memo.map(objectIn.schemas, schemas),
      relations: yield* memo.map(objectIn.relations, relations),
      functions: yield* memo.map(objectIn.functions, functions),
      types: yield* memo.map(objectIn.types, types),
      refusals: schemaRefusals(catalog, refused),
      // Assembled on demand: most compiles do not need it.
      get diagnostics() {
        return diagnostics()
      },
    },
    get diagnostics() {
      return diagnostics()
    },
  }
}

const memberKey = (kind: 'relation' | 'function', oid: string): string => `${kind} ${oid}`

/** The extension of each object. */
type Members = ReadonlyMap<string, string>

const noMembers: ReadonlyMap<string, string> = new Map()

const extensionMembers = (members: readonly CatalogMember[]): Members =>
  new Map(members.map(({ kind, oid, extension }) => [memberKey(kind, oid), extension]))

const says = ({ on }: KeyTable, { settings }: AnnotatedSchema, what: 'hidesExtensions' | 'namesComposites'): boolean =>
  Object.entries(settings).some(([key, value]) => on.schema.some((row) => row.key === key && row[what] === value))

/** A schema may leave out objects of extensions; their types stay available for columns. */
function withoutHidden(
  { relations, functions }: Catalog,
  schemas: readonly Read<AnnotatedSchema>[],
  members: Members,
  table: KeyTable,
): Pick<Catalog, 'relations' | 'functions'> {
  const hiding = schemas.flatMap(({ object }) => (says(table, object, 'hidesExtensions') ? [object.name] : []))
  if (hiding.length === 0 || members.size === 0) return { relations, functions }
  const isKept =
    (kind: 'relation' | 'function') =>
    ({ schema, oid }: CatalogRelation | CatalogFunction): boolean =>
      !hiding.includes(schema) || !members.has(memberKey(kind, oid))
  return { relations: relations.filter(isKept('relation')), functions: functions.filter(isKept('function')) }
}

interface Refused {
  readonly schema: string
  readonly refusals: readonly SettingRefusal[]
}

const refusedBy =
  <T>(schemaOf: (object: T) => string) =>
  ({ object, refusals }: Read<T>): Refused | null =>
    refusals.length === 0 ? null : { schema: schemaOf(object), refusals }

const schemaName = ({ schema }: { readonly schema: string }): string => schema

/** A memo keeps one list for each function. */
const refusedIn = {
  schemas: refusedBy<AnnotatedSchema>(({ name }) => name),
  relations: refusedBy<AnnotatedRelation>(schemaName),
  functions: refusedBy<AnnotatedFunction>(schemaName),
  types: refusedBy<AnnotatedType>(schemaName),
}

const objectOf =
  <T>() =>
  ({ object }: Read<T>): T =>
    object

const objectIn = {
  schemas: objectOf<AnnotatedSchema>(),
  relations: objectOf<AnnotatedRelation>(),
  functions: objectOf<AnnotatedFunction>(),
  types: objectOf<AnnotatedType>(),
}

const factsIn = <Facts>({ facts }: { readonly facts?: Facts }): { readonly facts?: Facts } => (facts ? { facts } : {})

const stages: readonly SettingRefusal['stage'][] = ['json', 'cast', 'load']

/** A failing read precedes decoding; among equal stages the message decides, so that the order of objects does not. */
function schemaRefusals({ schemas, typeSchemas = [] }: Catalog, all: readonly Refused[]): readonly SchemaRefusal[] {
  const grants = new Map([...typeSchemas, ...schemas].map((schema) => [schema.name, schema.grants]))
  return all
    .flatMap(({ schema, refusals }) => refusals.map((refusal) => ({ schema, ...refusal })))
    .sort((a, b) => stages.indexOf(a.stage) - stages.indexOf(b.stage) || compareBytes(a.message, b.message))
    .filter((refusal, index, sorted) => sorted.findIndex(({ schema }) => schema === refusal.schema) === index)
    .map(({ schema, message }) => ({ message, grants: grants.get(schema) ?? usedByAll }))
}

/** Schemas of Postgres itself are not read. */
const usedByAll: readonly CatalogGrant[] = [{ grantee: 'public', privileges: ['USAGE'] }]

/*
 * In Node 20 an object literal that begins with a spread and continues gets a separate hidden class each time (V8
 * 11.3): 650 bytes for a column, and slow to read. So objects of which there are thousands end with the spread.
 */

function annotateSchema({ comment, ...schema }: CatalogSchema, table: KeyTable): Read<AnnotatedSchema> {
  const read = readComment(table, 'schema', () => nameSchema(schema.name), comment)
  return readOf(read, { settings: read.settings, ...schema })
}

function annotateRelation(
  { comment, columns: itsColumns, foreignKeys: itsKeys, ...relation }: CatalogRelation,
  table: KeyTable,
  members: Members,
  memo: Memo,
): Read<AnnotatedRelation> {
  const read = readComment(table, 'relation', () => nameRelation(relation), comment)
  // Tens of thousands: memoizing each would cost more than recomputing those of a changed relation.
  const columns = itsColumns.map((column) => annotateColumn(table, relation, column))
  const foreignKeys = itsKeys.map((key) =>
    memo.of(annotateForeignKey, key, table, relation.schema, relation.name, relation.kind),
  )
  const parts: readonly Read<unknown>[] = [...columns, ...foreignKeys]
  const ofExtension = members.get(memberKey('relation', relation.oid))
  const access = comment === null ? [] : statedAccess(table, read.settings)
  return {
    object: {
      settings: read.settings,
      description: read.settings.description ?? read.outside,
      columns: columns.map((column) => column.object),
      foreignKeys: foreignKeys.map((key) => key.object),
      ...(ofExtension !== undefined && { ofExtension }),
      ...(access.length > 0 && { access }),
      ...factsIn(read),
      ...relation,
    },
    refusals: [...read.refusals, ...parts.flatMap((part) => part.refusals)],
    diagnostics: [...read.diagnostics, ...parts.flatMap((part) => part.diagnostics)],
  }
}

const statedAccess = ({ on }: KeyTable, settings: object): readonly StatedAccess[] =>
  on.relation
    .filter(({ isAccess }) => isAccess)
    .flatMap(
      ({ key }) =>
        (settings as Readonly<Record<string, readonly ColumnAccess[]>>)[key]?.map((one) => ({ key, ...one })) ?? [],
    )

type Owner = Pick<CatalogRelation, 'schema' | 'name' | 'kind'>

function annotateColumn(
  table: KeyTable,
  relation: Owner,
  { comment, ...column }: CatalogColumn,
): Read<AnnotatedColumn> {
  const read = readComment(table, 'column', () => nameColumn(relation, column.name), comment)
  const description = read.settings.description ?? read.outside
  return readOf(read, { settings: read.settings, description, ...factsIn(read), ...column })
}

function annotateForeignKey(
  { comment, ...key }: CatalogForeignKey,
  table: KeyTable,
  schema: string,
  name: string,
  kind: Owner['kind'],
): Read<AnnotatedForeignKey> {
  const read = readComment(table, 'foreign key', () => nameConstraint({ schema, name, kind }, key.name), comment)
  return readOf(read, { settings: read.settings, ...key })
}

function annotateFunction(
  { comment, ...fn }: CatalogFunction,
  table: KeyTable,
  members: Members,
): Read<AnnotatedFunction> {
  const ofExtension = members.get(memberKey('function', fn.oid))
  const read = readComment(table, 'function', () => nameFunction(fn), comment)
  const description = read.settings.description ?? read.outside
  return readOf(read, {
    settings: read.settings,
    description,
    ...(ofExtension !== undefined && { ofExtension }),
    ...factsIn(read),
    ...fn,
  })
}

/** Enums have settings, and composite types have a name if they are served as objects. */
function annotateType({ comment, ...type }: CatalogType, table: KeyTable, composites: boolean): Read<AnnotatedType> {
  const isEnum = type.kind === 'e'
  const name = (): string => nameType(type.schema, type.name)
  const read = readComment(table, 'enum', name, isEnum ? comment : null)
  if (composites && type.relation?.standAlone === true && comment !== null) {
    const { settings, diagnostics } = readComment(table, 'composite', name, comment)
    const kept = diagnostics.filter(({ code }) => code !== 'comment-json')
    return { refusals: [], diagnostics: kept, object: { settings: { ...read.settings, name: settings.name }, ...type } }
  }
  return {
    refusals: read.refusals,
    diagnostics: isEnum || comment === null ? read.diagnostics : strayDiagnostics(table, name(), comment),
    object: { settings: read.settings, ...factsIn(read), ...type },
  }
}

/** The diagnostics of settings on an object without any; a comment that is not JSON is not ours there. */
const strayDiagnostics = (table: KeyTable, object: string, comment: string): readonly Diagnostic[] =>
  readComment(table, 'other', () => object, comment).diagnostics.filter(({ code }) => code !== 'comment-json')

/** A relation with its valid settings, and diagnostics of the others. */
interface Checked {
  readonly relation: AnnotatedRelation
  readonly diagnostics: readonly Diagnostic[]
}

const rememberedTexts = 1_000

const saysAny = ({ access }: AnnotatedRelation): boolean => access !== undefined

/**
 * Creates the check of expressions, which needs a parser. An invalid one sets nothing, but its column stays
 * unwritable for clients. An unchanged relation keeps its identity.
 */
export function createAccessReader(parse: ParseTree, memo: Memo): (noted: Noted) => Promise<Noted> {
  const readable = createLru<string, true>(rememberedTexts)
  const known = new WeakMap<AnnotatedRelation, AnnotatedRelation>()
  const problemOf = async (text: string): Promise<string | null> => {
    if (readable.get(text) === true) return null
    const problem = await expressionProblem(parse, text)
    // A failure may be temporary, if the parser gave up.
    if (problem === null) readable.set(text, true)
    return problem
  }
  const readRelation = async (relation: AnnotatedRelation, annotated: Annotated): Promise<Checked> => {
    const object = nameRelation(relation)
    const faults: Diagnostic[] = []
    const kept = async (one: ColumnAccess, text: string | null): Promise<string | null> => {
      const reason = text === null ? null : await problemOf(text)
      if (reason === null) return text
      faults.push(diagnose('preset-unreadable', object, { ...one, reason }))
      return null
    }
    const keptOf = async (one: ColumnAccess, { insert, update }: SetExpressions): Promise<SetExpressions> => ({
      insert: await kept(one, insert),
      update: await kept(one, update),
    })
    const access: StatedAccess[] = []
    for (const one of relation.access ?? []) access.push(one.set ? { ...one, set: await keptOf(one, one.set) } : one)
    const diagnostics = [...faults, ...strangers(relation, annotated)]
    if (faults.length === 0) return { relation, diagnostics }
    const before = known.get(relation)
    if (before !== undefined && isDeepStrictEqual(before.access, access)) return { relation: before, diagnostics }
    const read = { ...relation, access }
    known.set(relation, read)
    return { relation: read, diagnostics }
  }
  return async (noted) => {
    const { annotated } = noted
    const says = await inTurns(memo.map(saysAny, annotated.relations))
    if (!says.includes(true)) return noted
    const found: Diagnostic[] = []
    const relations: AnnotatedRelation[] = []
    for (const [place, relation] of annotated.relations.entries()) {
      if (says[place] !== true) {
        relations.push(relation)
        continue
      }
      const read = await readRelation(relation, annotated)
      relations.push(read.relation)
      found.push(...read.diagnostics)
    }
    const diagnostics = [...noted.diagnostics, ...found]
    return { annotated: { ...annotated, relations, diagnostics }, diagnostics }
  }
}

/** Unknown names of roles and columns: such a setting protects nothing. */
function strangers(
  { access = [], columns, ...relation }: AnnotatedRelation,
  { roles }: Annotated,
): readonly Diagnostic[] {
  const object = nameRelation(relation)
  return access.flatMap(({ key, role, column, set }) => {
    const unknown = (what: string): Diagnostic => diagnose('access-unknown', object, { key, what })
    const found = columns.find(({ name }) => name === column)
    const isFixed = set !== undefined && (found?.generated === true || found?.identity === true)
    return [
      ...(role === 'public' || roles.some(({ name }) => name === role)
        ? []
        : [unknown(`the role ${JSON.stringify(role)}`)]),
      ...(found !== undefined && !isFixed
        ? []
        : [unknown(`a column ${JSON.stringify(column)} that it could hold for`)]),
    ]
  })
}
