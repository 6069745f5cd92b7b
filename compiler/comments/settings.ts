import { type JsonMembers, type JsonValue, type Decoded, member } from './decoders.ts'
import { isJsonObject, tryParseJson } from '../../runtime/lib/json.ts'
import { suggest } from '../../runtime/lib/text.ts'
import type { Deprecable, Diagnostic } from '../../runtime/contract/manifest.ts'
import { diagnose } from '../catalog/diagnostics/diagnostics.ts'
import { coreKeys, type Key, type ObjectKind, objectKinds, type CommentSettings } from './keys.ts'

/** The content of a comment. `outside`: its text without the directive, null if empty. */
type ParsedComment =
  /** No directive, or one with JSON that is not an object: `ignored` is its text. */
  | { readonly kind: 'plain'; readonly outside: string | null; readonly ignored: string | null }
  | { readonly kind: 'settings'; readonly outside: string | null; readonly settings: JsonMembers }
  | { readonly kind: 'broken'; readonly text: string }

const opening = '@graphql('

/**
 * Finds the directive of a comment (spec/graphql.md 13.1): from the first `@graphql(` greedily to the last `)` of the
 * whole comment, line feeds included, at least one character in between. The content must be JSON.
 */
export function parseComment(comment: string | null): ParsedComment {
  if (comment === null) return { kind: 'plain', outside: null, ignored: null }
  const start = comment.indexOf(opening)
  const from = start + opening.length
  const to = comment.lastIndexOf(')')
  if (start < 0 || to <= from) return { kind: 'plain', outside: joinTexts(comment), ignored: null }
  return readCapture(comment.slice(from, to), joinTexts(comment.slice(0, start), comment.slice(to + 1)))
}

function readCapture(text: string, outside: string | null): ParsedComment {
  const value = tryParseJson(text) as JsonValue | undefined
  if (value === undefined) return { kind: 'broken', text }
  return isJsonObject(value)
    ? { kind: 'settings', outside, settings: value }
    : { kind: 'plain', outside, ignored: text }
}

function joinTexts(...texts: readonly string[]): string | null {
  const joined = texts
    .map((text) => text.trim())
    .filter((text) => text !== '')
    .join('\n')
  return joined === '' ? null : joined
}

/** Why requests fail: of several faults the one with the first `stage` is answered (spec/graphql.md 13.1). */
export interface SettingRefusal {
  readonly stage: 'json' | 'cast' | 'load'
  readonly message: string
}

interface ReadComment<Kind extends ObjectKind> {
  readonly settings: CommentSettings<Kind>
  /** The settings that are facts; absent: none. */
  readonly facts?: Facts<Kind>
  /** The comment's text outside the directive. */
  readonly outside: string | null
  readonly refusals: readonly SettingRefusal[]
  readonly diagnostics: readonly Diagnostic[]
}

type Facts<Kind extends ObjectKind> = Kind extends 'enum' ? LabelFacts : Deprecable

export type LabelFacts = Readonly<Record<string, readonly (readonly [label: string, value: unknown])[]>>

interface KnownKey extends Key {
  /** The value of an absent setting. */
  readonly absent: Decoded<unknown>
}

const decodedBy = (row: KnownKey, value: JsonValue): Decoded<unknown> =>
  value === null ? row.absent : row.decode(value)

/** The keys that comments may have: those of the core, and those that additions bring. */
export interface KeyTable {
  readonly keys: readonly Key[]
  readonly on: Readonly<Record<ObjectKind, readonly KnownKey[]>>
  /** The shared settings of objects without a comment; most columns have none. */
  readonly absent: { readonly [Kind in ObjectKind]: ReadComment<Kind> }
}

export function keyTable(added: readonly Key[]): KeyTable {
  const keys = [...coreKeys, ...added].map((row: Key): KnownKey => ({ ...row, absent: row.decode(null) }))
  const each = <T>(make: (kind: ObjectKind) => T): Readonly<Record<ObjectKind, T>> =>
    Object.fromEntries(objectKinds.map((kind) => [kind, make(kind)])) as Readonly<Record<ObjectKind, T>>
  const rows = { keys, on: each((kind) => keys.filter(({ on }) => on.includes(kind))) }
  return { ...rows, absent: each((kind) => decoded(rows, kind, () => kind, '')) as KeyTable['absent'] }
}

/**
 * Decodes one comment by a table of keys. Faults are diagnostics about `object`; the settings then have their defaults.
 */
export const readComment = <Kind extends ObjectKind>(
  table: KeyTable,
  kind: Kind,
  object: () => string,
  comment: string | null,
): ReadComment<Kind> => (comment === null ? table.absent[kind] : decoded(table, kind, object, comment))

type Rows = Pick<KeyTable, 'keys' | 'on'>

function decoded<Kind extends ObjectKind>(
  table: Rows,
  kind: Kind,
  object: () => string,
  comment: string,
): ReadComment<Kind> {
  const parsed = parseComment(comment)
  const given = parsed.kind === 'settings' ? parsed.settings : {}
  const read = table.on[kind].map((row) => ({ row, decoded: decodedBy(row, member(given, row.key)) }))
  const failures = read.flatMap(({ row, decoded }) => (decoded.ok ? [] : [{ row, failure: decoded }]))
  const values = read.map(({ row, decoded }) => ({ row, value: decodedValue(row, decoded) }))
  const facts = values.filter(({ row, value }) => row.isFact && value !== null)
  return {
    settings: Object.fromEntries(values.map(({ row, value }) => [row.key, value])) as CommentSettings<Kind>,
    ...(facts.length > 0 && {
      facts: Object.fromEntries(facts.map(({ row, value }) => [row.key, value])) as Facts<Kind>,
    }),
    outside: parsed.kind === 'broken' ? null : parsed.outside,
    refusals: [
      ...brokenJson(parsed),
      ...failures.map(({ failure }) => ({ stage: failure.refusal, message: refusalMessage(failure) })),
    ],
    diagnostics: [
      ...shapeDiagnostics(parsed, object),
      ...failures.map(({ row, failure }) =>
        diagnose('comment-value', object(), { key: row.key, reason: failure.reason, help: row.help }),
      ),
      ...read.flatMap(({ row, decoded }) => remarkDiagnostics(row, decoded, object)),
      ...Object.keys(given).flatMap((key) => unknownKeyDiagnostics(table, kind, object, key)),
    ],
  }
}

type Failure = Extract<Decoded<unknown>, { readonly ok: false }>

const decodedValue = (row: KnownKey, decoded: Decoded<unknown>): unknown => {
  const used = decoded.ok ? decoded : row.absent
  return used.ok ? used.value : null
}

const refusalMessage = ({ refusal, reason }: Failure): string =>
  refusal === 'load' ? `Error while loading schema, check comment directives. ${reason}` : reason

const brokenJson = (parsed: ParsedComment): readonly SettingRefusal[] =>
  parsed.kind === 'broken' ? [{ stage: 'json', message: 'invalid input syntax for type json' }] : []

function shapeDiagnostics(parsed: ParsedComment, object: () => string): readonly Diagnostic[] {
  if (parsed.kind === 'broken') return [diagnose('comment-json', object(), { text: parsed.text })]
  if (parsed.kind === 'plain' && parsed.ignored !== null) {
    return [diagnose('comment-shape', object(), { text: parsed.ignored })]
  }
  return []
}

const remarkDiagnostics = (row: Key, decoded: Decoded<unknown>, object: () => string): readonly Diagnostic[] =>
  (decoded.ok ? (decoded.remarks ?? []) : []).map((reason) =>
    diagnose('comment-value-unused', object(), { key: row.key, reason, help: row.help }),
  )

function unknownKeyDiagnostics(
  { keys, on }: Rows,
  kind: ObjectKind,
  object: () => string,
  key: string,
): readonly Diagnostic[] {
  const valid = on[kind].map((row) => row.key)
  if (valid.includes(key)) return []
  const places = keyPlaces(keys, key)
  if (places.length > 0) return [diagnose('comment-key-misplaced', object(), { key, places })]
  const nearest = suggest(key, valid)
  if (nearest !== null) return [diagnose('comment-key-unknown', object(), { key, nearest, places: [], valid })]
  const elsewhere = suggest(
    key,
    keys.map((row) => row.key),
  )
  const meant = { nearest: elsewhere, places: elsewhere === null ? [] : keyPlaces(keys, elsewhere) }
  return [diagnose('comment-key-unknown', object(), { key, ...meant, valid })]
}

const kindWords: Readonly<Record<ObjectKind, string>> = {
  schema: 'a schema',
  relation: 'a table',
  column: 'a column',
  function: 'a function',
  enum: 'an enum',
  composite: 'a composite type (where "composites" is on)',
  'foreign key': 'a foreign key',
  other: 'any other object',
}

const keyPlaces = (keys: readonly Key[], key: string): readonly string[] =>
  keys.filter((row) => row.key === key).flatMap((row) => row.on.map((kind) => kindWords[kind]))
