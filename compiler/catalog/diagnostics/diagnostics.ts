import type { Diagnostic } from '../../../runtime/contract/manifest.ts'
import type { Memo } from '../../../runtime/lib/memo/memo.ts'

/** One kind of diagnostic: its severity, its sentence from the facts, and the fix. */
interface Kind<Facts> {
  readonly severity: Diagnostic['severity']
  readonly message: (facts: Facts) => string
  readonly fix: (facts: Facts) => string
}

const kind = <Facts>(
  severity: Diagnostic['severity'],
  message: (facts: Facts) => string,
  fix: (facts: Facts) => string,
): Kind<Facts> => ({ severity, message, fix })

const quote = (text: string): string => JSON.stringify(text)
const ended = (sentence: string): string => (/[.?!]$/.test(sentence) ? sentence : `${sentence}.`)
const quoted = (names: readonly string[]): string => names.map(quote).join(', ')

export const diagnosticKinds = {
  'comment-json': kind<{ text: string }>(
    'error',
    ({ text }) => `The comment asks for @graphql(${text}), which is not JSON; every request fails because of it.`,
    () =>
      'Write one JSON object with double-quoted keys between "@graphql(" and the last ")" of the comment, ' +
      'and use no other ")" after it.',
  ),
  'comment-value': kind<{ key: string; reason: string; help: string }>(
    'error',
    ({ key, reason }) => `The setting ${quote(key)} in the comment cannot be read; every request fails: ${reason}.`,
    ({ key, help }) => `Correct ${quote(key)} in the comment: ${help}`,
  ),
  'comment-value-unused': kind<{ key: string; reason: string; help: string }>(
    'warning',
    ({ key, reason }) => `The setting ${quote(key)} in the comment cannot be used as it stands: ${ended(reason)}`,
    ({ key, help }) => `Correct ${quote(key)} in the comment: ${help}`,
  ),
  'comment-shape': kind<{ text: string }>(
    'warning',
    ({ text }) => `The comment asks for @graphql(${text}), which is JSON but not an object; it has no effect.`,
    () => 'Write an object, e.g. @graphql({"name": "Post"}).',
  ),
  'comment-key-unknown': kind<{
    key: string
    nearest: string | null
    places: readonly string[]
    valid: readonly string[]
  }>(
    'warning',
    ({ key }) => `The comment sets ${quote(key)}, which is no setting; it is ignored.`,
    ({ nearest, places, valid }) => {
      const elsewhere = places.length === 0 ? '' : ` Set that in the comment of ${places.join(' or ')}.`
      if (nearest !== null) return `Did you mean ${quote(nearest)}?${elsewhere}`
      return valid.length > 0 ? `Use one of ${quoted(valid)}.` : 'Remove it: objects of this kind have no settings.'
    },
  ),
  'comment-key-misplaced': kind<{ key: string; places: readonly string[] }>(
    'warning',
    ({ key }) => `The comment sets ${quote(key)}, which has no effect on this kind of object.`,
    ({ places }) => `Set it in the comment of ${places.join(' or ')}.`,
  ),
  'unique-key-unusable': kind<{ name: string }>(
    'warning',
    ({ name }) => `The unique key ${quote(name)} has no valid GraphQL name, so that "onConflict" cannot name it.`,
    () => 'Rename it: letters, digits and underscores, not a digit first, not two underscores first.',
  ),
  'default-order-unusable': kind<{ column: string }>(
    'warning',
    ({ column }) => `The setting "defaultOrder" names ${quote(column)}, which its rows cannot be sorted by.`,
    () => 'Name a column as the database does: arrays, JSON and composites have no order.',
  ),
  'default-filter-unusable': kind<{ column: string; operator: string }>(
    'warning',
    ({ column, operator }) =>
      `The condition ${quote(operator)} of the setting "defaultFilter" on ${quote(column)} is not one that its rows can be filtered by.`,
    () => 'Name a column as the database does, an operator that its filter has, and a value of its type.',
  ),
  'soft-delete-unusable': kind<{ column: string }>(
    'error',
    ({ column }) =>
      `The setting "softDelete" names ${quote(column)}, which cannot mark rows as deleted: all rows are shown, and nobody can delete any.`,
    () => 'Name a column of timestamptz or timestamp that may be null, or of boolean, that is not generated.',
  ),
  'link-unusable': kind<{ name: string; reason: string }>(
    'warning',
    ({ name, reason }) => `The link ${quote(name)} has no field: ${reason}.`,
    () =>
      'Name each step by the field of a relation of the type before it, and columns, operators and values as in the ' +
      'setting "defaultFilter".',
  ),
  'union-unusable': kind<{ name: string; reason: string }>(
    'warning',
    ({ name, reason }) => `The union ${quote(name)} has no field: ${reason}.`,
    () => 'Name it as nothing else is named, and each of its relations by a field of the table that leads to one row.',
  ),
  'interface-unusable': kind<{ name: string; owner: string }>(
    'warning',
    ({ name, owner }) => `There is no interface ${quote(name)}: the type name belongs to ${owner}.`,
    () => 'Give it another name in the setting "polymorphism" of all its tables.',
  ),
  'collection-unusable': kind<{ name: string }>(
    'warning',
    ({ name }) => `The interface ${quote(name)} has no collection: one of its type names belongs to another type.`,
    () => 'Give the interface another name in the setting "polymorphism" of all its tables.',
  ),
  'access-unknown': kind<{ key: string; what: string }>(
    'warning',
    ({ key, what }) => `The setting ${quote(key)} names ${what}, which is not there.`,
    () => 'Correct the name: roles and columns are called as in the database.',
  ),
  'preset-unreadable': kind<{ role: string; column: string; reason: string }>(
    'error',
    ({ role, column, reason }) =>
      `The preset of ${quote(column)} for ${quote(role)} sets nothing: ${reason}. The column is in no input of the role.`,
    () => 'Write one expression of SQL that needs no row, such as auth.uid().',
  ),
  'label-unknown': kind<{ label: string; labels: readonly string[] }>(
    'warning',
    ({ label }) => `The comment speaks of the label ${quote(label)}, which the type does not have.`,
    ({ labels }) => `Its labels are ${quoted(labels)}.`,
  ),
  'label-unusable': kind<{ label: string; name: string; why: string }>(
    'warning',
    ({ label, name, why }) => `The label ${quote(label)} is no value of the GraphQL enum: ${quote(name)} ${why}.`,
    ({ label }) => `Comment on the type with @graphql({"mappings": {${quote(label)}: "<NAME>"}}).`,
  ),
  'enum-empty': kind<Record<never, never>>(
    'warning',
    () => 'The type has no label that GraphQL can name; its values are served as Opaque.',
    () => 'Map its labels with @graphql({"mappings": {...}}).',
  ),
  'name-unusable': kind<{ name: string; what: string }>(
    'warning',
    ({ name, what }) => `${quote(name)} is no valid GraphQL name; ${what}.`,
    () =>
      'Give it another name by comment: letters, digits and underscores, not a digit first, not two underscores first.',
  ),
  'attribute-unusable': kind<{ name: string }>(
    'warning',
    ({ name }) => `${quote(name)} is no valid GraphQL name; the attribute has no field.`,
    () => 'Rename it: letters, digits and underscores, not a digit first, not two underscores first.',
  ),
  'name-taken': kind<{ name: string; owner: string }>(
    'warning',
    ({ name, owner }) =>
      `The GraphQL type name ${quote(name)} belongs to ${owner}, so this object has an unusable name.`,
    () => 'Give it another name with @graphql({"name": "..."}).',
  ),
  'field-taken': kind<{ field: string; type: string; winner: string }>(
    'warning',
    ({ field, type, winner }) => `Its field ${quote(field)} on type ${quote(type)} gives way to ${winner}.`,
    () => 'Give one of the two another name by comment: name, or foreign_name and local_name on a foreign key.',
  ),
  'node-id-kept': kind<{ instead: string }>(
    'warning',
    ({ instead }) => `Its field would be called "nodeId", which is the node id of every row; ${instead}.`,
    () => 'Give it another name by comment: name, or foreign_name and local_name on a foreign key.',
  ),
  'no-key': kind<{ view: boolean; columns: readonly string[] }>(
    'info',
    () => 'It has no primary key, so it has no collection.',
    ({ view, columns }) =>
      `${view ? 'Comment' : 'Add a primary key, or comment'} on it with @graphql({"primary_key_columns": [${quoted(columns)}]}).`,
  ),
  'key-ignored': kind<Record<never, never>>(
    'warning',
    () => 'The comment sets "primary_key_columns", but the table has a primary key, which counts.',
    () => 'Remove the setting.',
  ),
  'key-inherited': kind<{ columns: readonly string[] }>(
    'warning',
    ({ columns }) =>
      `Other tables inherit from it, and its key (${quoted(columns)}) does not hold for their rows: of rows with one key pages may lose some, and a look-up answers one.`,
    () => 'Keep the keys of all of these tables apart, by one sequence for example, or make it a partitioned table.',
  ),
  'key-column-unknown': kind<{ column: string }>(
    'warning',
    ({ column }) =>
      `The comment's "primary_key_columns" names ${quote(column)}, which does not exist; the key is void.`,
    () => 'Name existing columns, in the spelling of the database.',
  ),
  'foreign-key-unknown': kind<{ entry: number; reason: string }>(
    'warning',
    ({ entry, reason }) => `Entry ${entry} of the comment's "foreign_keys" is skipped: ${reason}.`,
    () =>
      'Name existing relations of the served schemas and existing columns, as many here as there, of types that Postgres ' +
      'compares; a view or a generated column can cast one.',
  ),
  'column-unmapped': kind<{ type: string }>(
    'info',
    ({ type }) => `Its type ${type} has no GraphQL counterpart, so it has no field.`,
    () => 'Serve its parts by a computed field, or use a scalar, enum or array type.',
  ),
  'filter-behind-policies': kind<{ keys: readonly string[] }>(
    'info',
    ({ keys }) =>
      `Its filter (${quoted(keys)}) looks at every row that the policies let through: under row-level security Postgres ` +
      'uses no index for operators that are not leakproof.',
    () => 'Give the columns that the policies compare an index, so that they leave few rows.',
  ),
  'function-hidden': kind<{ reason: string }>(
    'info',
    ({ reason }) => `It is not in the API: ${reason}.`,
    () => 'Change the function, or leave it for the database alone.',
  ),
  'policies-loosened': kind<{ policies: readonly string[]; sql: string | null }>(
    'error',
    ({ policies }) =>
      `Restrictive policies do not restrict where Citus keeps the rows, which would be shown because of ${quoted(policies)}; the table is left out.`,
    ({ sql }) => sql ?? 'Write what they demand into its permissive policies, and drop them.',
  ),
  'defaults-sent': kind<{ roles: readonly string[]; sql: string }>(
    'warning',
    ({ roles }) =>
      `${quoted(roles)} cannot insert, although there are columns for it: Citus writes defaults into what it sends to a shard, and their columns are not to be inserted by it.`,
    ({ sql }) => sql,
  ),
  'live-refused': kind<{ reasons: readonly string[] }>(
    'warning',
    ({ reasons }) => `Queries of it cannot be watched. ${reasons.join(' ')}`,
    () => 'docs/live.md says what to do about each reason; "live": {"enabled": false} takes it out.',
  ),
  'relation-crosses-shards': kind<{ why: string; fix: string }>(
    'warning',
    ({ why }) =>
      `Requests that follow it are refused, or answered only where shards happen to lie on one server: ${why}.`,
    ({ fix }) => fix,
  ),
  'relation-within-tenant': kind<Record<never, never>>(
    'info',
    () => 'Citus follows it within one tenant, and over all of them only towards a reference table.',
    () => 'Name the tenant in the document, or in policies.',
  ),
  'statement-refused': kind<{ part: string; problem: string }>(
    'error',
    ({ part, problem }) => `The SQL compiled for ${part} does not parse: ${problem}; the object is left out.`,
    () =>
      'This is a fault of the compiler: report it with the definition of the object. A new name may help until then.',
  ),
  'statement-unchecked': kind<{ part: string; problem: string }>(
    'warning',
    ({ part, problem }) => `The SQL compiled for ${part} could not be checked: ${problem}.`,
    () => 'It is served all the same; nothing needs to be done while requests for it are answered.',
  ),
} as const

type DiagnosticCode = keyof typeof diagnosticKinds

type FactsOf<Code extends DiagnosticCode> = Parameters<(typeof diagnosticKinds)[Code]['message']>[0]

/** A diagnostic of the table, about one object in the owner's notation. */
export function diagnose<Code extends DiagnosticCode>(code: Code, object: string, facts: FactsOf<Code>): Diagnostic {
  const row = diagnosticKinds[code] as unknown as Kind<FactsOf<Code>>
  return { code, severity: row.severity, object, message: row.message(facts), fix: row.fix(facts) }
}

/** Diagnostics of which each loses a field or a type. */
export const fieldLosses: ReadonlySet<string> = new Set<keyof typeof diagnosticKinds>([
  'field-taken',
  'name-taken',
  'name-unusable',
  'node-id-kept',
  'label-unusable',
])

export interface WithDiagnostics<T> {
  readonly value: T
  readonly diagnostics: readonly Diagnostic[]
}

export const withDiagnostics = <T>(value: T, diagnostics: readonly Diagnostic[] = []): WithDiagnostics<T> => ({
  value,
  diagnostics,
})

/** The values of a list in their order without nulls, and all their diagnostics, in the same order. */
export const collectPresent = <T>(list: readonly WithDiagnostics<T | null>[]): WithDiagnostics<readonly T[]> =>
  withDiagnostics(present(list.map(({ value }) => value)), diagnosticsIn(list))

/** The values that are not null: the list itself if all are. */
export const present = <T>(values: readonly (T | null)[]): readonly T[] =>
  hasNone(values) ? values : values.filter((value): value is T & {} => value !== null)

const hasNone = <T>(values: readonly (T | null)[]): values is readonly T[] => !values.includes(null)

const diagnosticsIn = (list: readonly WithDiagnostics<unknown>[]): readonly Diagnostic[] =>
  list.flatMap(({ diagnostics }) => diagnostics)

/**
 * Like `collectPresent`, for a list of thousands whose predecessor is memoized.
 * @param values of the items of the list
 */
export const collectFollowed = <T>(
  memo: Memo,
  list: readonly WithDiagnostics<T | null>[],
  values: readonly (T | null)[],
): WithDiagnostics<readonly T[]> => ({
  value: memo.of(present<T>, values),
  get diagnostics() {
    return memo.of(diagnosticsIn, list)
  },
})

const weight: Readonly<Record<Diagnostic['severity'], number>> = { error: 0, warning: 1, info: 2 }

const oneLine = (text: string): string => text.replaceAll(/\s+/gu, ' ')

/** One line: `warning: column public.posts."2nd": what is the case [code] -> what to do`. */
export const printDiagnostic = (diagnostic: Diagnostic): string =>
  oneLine(
    `${diagnostic.severity}: ${diagnostic.object}: ${diagnostic.message} [${diagnostic.code}] -> ${diagnostic.fix}`,
  )

/** One diagnostic per line, the most severe first, otherwise in the order of detection; '' without any. */
export const printDiagnostics = (diagnostics: readonly Diagnostic[]): string =>
  [...diagnostics]
    .sort((a, b) => weight[a.severity] - weight[b.severity])
    .map((diagnostic) => `${printDiagnostic(diagnostic)}\n`)
    .join('')
