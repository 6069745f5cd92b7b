import {
  digestEntity,
  revisionId,
  type EntityModule,
  type Revision,
  joinDigests,
} from '../../runtime/contract/artifact.ts'
import type {
  ObjectId,
  EntityFacts,
  FunctionFacts,
  RelationFacts,
  ResultFacts,
  Diagnostic,
  Manifest,
} from '../../runtime/contract/manifest.ts'
import { createMemo, type Memo } from '../../runtime/lib/memo/memo.ts'
import { sha256Hex, messageOf } from '../../runtime/lib/text.ts'
import { inTurns, type Steps } from '../../runtime/lib/steps.ts'
import type { EntitySql, Model } from '../model/model.ts'
import { withDiagnostics, type WithDiagnostics, diagnose } from '../catalog/diagnostics/diagnostics.ts'
import { entityModule, columnTypesOf, callsModule, typeModule, type Types } from './builders.ts'
import { createSqlParser, isUnparsed, type ParseSql } from './sql-parser.ts'
import type { CallBuilder, EntityBuilder } from '../../runtime/contract/builder.ts'
import { evaluateModule } from '../../runtime/engine/load.ts'
import { createLru, type Lru } from '../../runtime/lib/caches.ts'
import { nameObject } from '../catalog/catalog.ts'
import { callSample, entitySamples, typeSample, type SqlSample, type TypeBuilder } from './samples.ts'
import { sameItems } from '../../runtime/lib/memo/differences.ts'
import { isJsonObject } from '../../runtime/lib/json.ts'

/**
 * Model -> Revision. `version` is the schema version at which the model was read; it is not part of the revision's id.
 */
type Emit = (model: Model, version: string | null) => Promise<WithDiagnostics<Revision>>

/** The module of one relation. */
interface EntityPart {
  readonly id: ObjectId
  readonly text: string
  readonly digest: string
  readonly checked: Checked
}

/** An emitter memoizes the module of each relation, so that a changed table costs one table. */
export function createEmitter(memo: Memo = createMemo()): Emit {
  const parse = createSqlParser()
  const check = createCheck(parse)
  return async (model, version) => {
    const parts = await memo.eachLater(entityPart, model.entities, check)
    const functions = await memo.later(checkCalls, parse, memo.of(callsModule, model.functions))
    return inTurns(assembleRevision(memo, model, version, parts, functions))
  }
}

function* assembleRevision(
  memo: Memo,
  model: Model,
  version: string | null,
  parts: readonly EntityPart[],
  functions: Checked,
): Steps<WithDiagnostics<Revision>> {
  const checks = (yield* memo.map(reporting, parts)).filter((checked) => checked !== null)
  const refused = new Set(checks.flatMap((checked) => checked.refused))
  const served = leaveOut(model, { entities: refused, functions: new Set(functions.refused) })
  const kept = refused.size === 0 ? parts : parts.filter(({ id }) => !refused.has(id))
  return withDiagnostics(
    yield* revisionOf(memo, served, version, kept),
    [...checks, functions].flatMap(({ diagnostics }) => diagnostics),
  )
}

async function entityPart(entity: EntitySql, check: Check): Promise<EntityPart> {
  const { id } = entity
  const types = columnTypesOf(entity)
  const text = entityModule(entity, types)
  return { id, text, digest: sha256Hex(text), checked: await checkEntity(id, text, types, check) }
}

const reporting = ({ checked }: EntityPart): Checked | null => (checked.diagnostics.length > 0 ? checked : null)

const digestLine = ({ id, digest }: EntityPart): string => digestEntity(id, digest)
const moduleOf = ({ id, text }: EntityPart): EntityModule => ({ id, text })

function* revisionOf(
  memo: Memo,
  { manifest, functions }: Model,
  version: string | null,
  parts: readonly EntityPart[],
): Steps<Revision> {
  const calls = memo.of(callsModule, functions)
  const id = revisionId({
    manifest: yield* manifestDigest(memo, manifest),
    functions: memo.one(sha256Hex, calls),
    entities: yield* memo.map(digestLine, parts),
  })
  return { id, version, manifest, entities: yield* memo.map(moduleOf, parts), functions: calls }
}

/** Objects whose SQL Postgres would refuse. */
interface Refused {
  readonly entities: ReadonlySet<ObjectId>
  readonly functions: ReadonlySet<ObjectId>
}

/** The model without these objects and without the fields of their types; everything else is unchanged. */
function leaveOut(model: Model, refused: Refused): Model {
  if (refused.entities.size === 0 && refused.functions.size === 0) return model
  const leads = ({ result }: FunctionFacts): boolean => refused.entities.has(entityOf(result) ?? '')
  const { manifest } = model
  const functions = manifest.functions.filter((fn) => !refused.functions.has(fn.id) && !leads(fn))
  const sound = manifest.entities.filter(({ id }) => !refused.entities.has(id))
  const entities = sound.map((entity) => cut(entity, refused, leads))
  return {
    manifest: { ...manifest, entities, functions },
    entities: only(model.entities, entities),
    functions: only(model.functions, functions),
  }
}

const entityOf = (result: ResultFacts): ObjectId | null =>
  result.kind === 'row' || result.kind === 'set' ? result.entity : null

function cut(entity: EntityFacts, refused: Refused, leads: (fn: FunctionFacts) => boolean): EntityFacts {
  const isThere = ({ target, way }: RelationFacts): boolean =>
    !refused.entities.has(target) && (way?.through ?? []).every((between) => !refused.entities.has(between.entity))
  const { unions } = entity
  return {
    ...entity,
    relations: entity.relations.filter(isThere),
    ...(unions && { unions: unions.map((union) => ({ ...union, of: union.of.filter(isThere) })) }),
    computed: entity.computed.filter((fn) => !leads(fn)),
  }
}

interface Identified {
  readonly id: ObjectId
}

function only<T extends Identified>(all: readonly T[], kept: readonly Identified[]): readonly T[] {
  const ids = new Set(kept.map(({ id }) => id))
  return all.filter(({ id }) => ids.has(id))
}

interface Checked {
  /** Those whose SQL Postgres would refuse. */
  readonly refused: readonly ObjectId[]
  readonly diagnostics: readonly Diagnostic[]
}

/**
 * Every SQL text that the builders can make must parse as exactly one statement. A text that does not is a fault of the
 * compiler, not of the owner: it is an error about that object, which is then left out (leaveOut). A text that
 * cannot be checked is reported and kept.
 */
async function checkEntity(id: ObjectId, text: string, types: Types, check: Check): Promise<Checked> {
  const object = objectName('relation', id)
  const news = newLines(text, check)
  try {
    const samples = news.length === 0 ? [] : entitySamples(evaluateModule(text, id) as EntityBuilder)
    const problems = [...(await problemsOf(samples, check.parse)), ...(await typeProblems(types, check))]
    if (problems.length === 0) for (const line of news) check.lines.set(line, true)
    return problemDiagnostics(id, object, problems)
  } catch (error) {
    const facts = { part: 'its builder', problem: messageOf(error) }
    return { refused: [id], diagnostics: [diagnose('statement-refused', object, facts)] }
  }
}

/** The dependencies of a check: the parser, and earlier positive results. */
interface Check {
  readonly parse: ParseSql
  /** By text. */
  readonly types: Lru<string, { readonly problem: string | null }>
  /** Of modules, with normalized names. */
  readonly lines: Lru<string, true>
}

const rememberedTypes = 2_000
const rememberedCharacters = 2_000_000

const createCheck = (parse: ParseSql): Check => ({
  parse,
  types: createLru(rememberedTypes),
  lines: createLru(rememberedCharacters, (_, line) => line.length),
})

/** The content of a quoted word is irrelevant in every language. */
const quotedWord = /(['"])[A-Za-z_][A-Za-z0-9_]*\1/g
const typeLine = /^const /

/**
 * Lines of a module that no valid module contained. Each line is a complete member (js-text.ts), or the text of a type,
 * which is checked separately; so a module of valid lines is valid. Thousands of tables have a few dozen distinct
 * lines, and evaluating a module costs as much as writing it.
 */
const newLines = (text: string, { lines }: Check): readonly string[] =>
  text
    .replace(quotedWord, '$1$1')
    .split('\n')
    .filter((line) => !typeLine.test(line) && lines.get(line) === undefined)

interface Problem {
  readonly part: string
  readonly problem: string
}

/** A type's functions depend on their text only, so each text is checked once. */
async function typeProblems({ list }: Types, { parse, types }: Check): Promise<readonly Problem[]> {
  const problems: Problem[] = []
  for (const { text, column } of list) {
    const known = types.get(text) ?? {
      problem: await parse(typeSample(evaluateModule(typeModule(text), 'type') as TypeBuilder)),
    }
    types.set(text, known)
    if (known.problem !== null) problems.push({ part: `the type of column ${column.column}`, problem: known.problem })
  }
  return problems
}

async function checkCalls(parse: ParseSql, text: string): Promise<Checked> {
  const calls = Object.entries(evaluateModule(text, 'functions') as Readonly<Record<ObjectId, CallBuilder>>)
  const all: Checked[] = []
  for (const [id, call] of calls) {
    all.push(problemDiagnostics(id, objectName('function', id), await problemsOf([callSample(call)], parse)))
  }
  return { refused: all.flatMap((one) => one.refused), diagnostics: all.flatMap((one) => one.diagnostics) }
}

async function problemsOf(samples: readonly SqlSample[], parse: ParseSql): Promise<readonly Problem[]> {
  const problems: Problem[] = []
  for (const { part, sql } of samples) {
    const problem = await parse(sql)
    if (problem !== null) problems.push({ part, problem })
  }
  return problems
}

function problemDiagnostics(id: ObjectId, object: string, problems: readonly Problem[]): Checked {
  const diagnostics = problems.map((facts) =>
    diagnose(isUnparsed(facts.problem) ? 'statement-unchecked' : 'statement-refused', object, facts),
  )
  return { refused: diagnostics.some(({ severity }) => severity === 'error') ? [id] : [], diagnostics }
}

const objectName = (kind: string, id: ObjectId): string => nameObject(kind, ...(JSON.parse(id) as readonly string[]))

/**
 * The manifest as JSON: keys sorted, so that the same manifest always gives the same bytes, and each entity, function,
 * role and enum on its own line, so that a changed table is one changed line in a diff.
 */
export const manifestText = (manifest: Manifest): string => `{\n${blocksOf(manifest).map(blockText).join(',\n')}\n}\n`

/** The result of digestLines for the text, without building lines of the previous manifest's parts. */
export function* manifestDigest(memo: Memo, manifest: Manifest): Steps<string> {
  const ofEntities = yield* memo.map(recordDigest, manifest.entities, '')
  return joinDigests([
    opening,
    ...sortedMembers(manifest).map(({ label, value }) => {
      if (label === entitiesLabel) return memo.of(blockDigests, ofEntities, label)
      return typeof value === 'object' && value !== null
        ? memo.of(memberDigests, value, memo, label)
        : sha256Hex(label + JSON.stringify(value))
    }),
    closing,
    afterLast,
  ])
}

/** The digests of a member's lines, a line each. */
function memberDigests(value: object, memo: Memo, label: string): string {
  const { open, items, close } = blockOf(label, value)
  return digestsWithin(
    open,
    items.map((item) => itemDigest(memo, item)),
    close,
  )
}

/** The same for a list with known digests of its items. */
const blockDigests = (digests: readonly string[], label: string): string => digestsWithin(`${label}[`, digests, ']')

const digestsWithin = (open: string, digests: readonly string[], close: string): string =>
  digests.length === 0 ? sha256Hex(open + close) : [sha256Hex(open), ...digests, sha256Hex(close)].join('\n')

const entitiesLabel = '"entities":'

/** One member of the manifest: its items are lines between the opening and the closing one. */
interface Block {
  readonly open: string
  readonly items: readonly Item[]
  readonly close: string
}

interface Item {
  readonly label: string
  readonly value: unknown
}

const blocksOf = (manifest: Manifest): readonly Block[] =>
  sortedMembers(manifest).map(({ label, value }) => blockOf(label, value))

function blockOf(label: string, value: unknown): Block {
  if (Array.isArray(value)) {
    return { open: `${label}[`, items: value.map((item) => ({ label: '', value: item })), close: ']' }
  }
  if (isJsonObject(value)) return { open: `${label}{`, items: sortedMembers(value), close: '}' }
  return { open: label + JSON.stringify(value), items: [], close: '' }
}

const sortedMembers = (value: object): readonly Item[] =>
  Object.keys(value)
    .sort()
    .map((key) => ({ label: `${JSON.stringify(key)}:`, value: (value as Readonly<Record<string, unknown>>)[key] }))

const blockText = ({ open, items, close }: Block): string =>
  items.length === 0 ? open + close : `${open}\n${items.map(itemText).join(',\n')}\n${close}`

const [opening, closing, afterLast] = [sha256Hex('{'), sha256Hex('}'), sha256Hex('')]

const itemText = ({ label, value }: Item): string => label + stableJson(value)

/** Unchanged enums and other items are identical to those of the previous revision. */
const itemDigest = (memo: Memo, { label, value }: Item): string =>
  isJsonObject(value) ? memo.of(recordDigest, value, label) : sha256Hex(itemText({ label, value }))

const recordDigest = (value: object, label: string): string => sha256Hex(itemText({ label, value }))

/** JSON on one line, keys in code unit order. It builds no intermediate lists: there are thousands of entities. */
function stableJson(value: unknown): string {
  let text = ''
  if (Array.isArray(value)) {
    for (const item of value) text += `${text === '' ? '' : ','}${stableJson(item)}`
    return `[${text}]`
  }
  if (typeof value === 'boolean' || value === null) return String(value)
  if (!isJsonObject(value)) return JSON.stringify(value)
  for (const { key, label } of membersInOrder(Object.keys(value))) text += label + stableJson(value[key])
  return `{${text}}`
}

interface Member {
  readonly key: string
  /** The text before its value, including the comma. */
  readonly label: string
}

interface Order {
  readonly keys: readonly string[]
  readonly members: readonly Member[]
}

/** By the number of keys: columns and the like have few distinct sets of keys, so each is sorted once. */
const orders = createLru<number, readonly Order[]>(1_000)
const rememberedOrders = 16

function membersInOrder(keys: readonly string[]): readonly Member[] {
  const known = orders.get(keys.length) ?? []
  for (const { keys: before, members } of known) if (sameItems(before, keys)) return members
  const members = keys
    .toSorted()
    .map((key, place) => ({ key, label: `${place === 0 ? '' : ','}${JSON.stringify(key)}:` }))
  orders.set(keys.length, [{ keys, members }, ...known.slice(0, rememberedOrders - 1)])
  return members
}
