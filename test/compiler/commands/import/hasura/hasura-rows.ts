/**
 * The meaning of Hasura's permissions, over rows as JSON and independently of any SQL: truth is three-valued, as the
 * comparisons of Postgres are, and related rows are found whatever the caller may read of them.
 */

export type Row = Readonly<Record<string, unknown>>
type Truth = boolean | null

export interface RowTable {
  readonly rows: readonly Row[]
  readonly related: Readonly<
    Record<string, { readonly table: string; readonly pairs: readonly (readonly [string, string])[] }>
  >
}

export interface Rows {
  readonly tables: Readonly<Record<string, RowTable>>
  /** By names in lower case. */
  readonly session: Readonly<Record<string, string>>
}

const and = (all: readonly Truth[]): Truth => (all.includes(false) ? false : all.includes(null) ? null : true)
const or = (all: readonly Truth[]): Truth => (all.includes(true) ? true : all.includes(null) ? null : false)
const not = (truth: Truth): Truth => (truth === null ? null : !truth)

const isObject = (value: unknown): value is Row => typeof value === 'object' && value !== null && !Array.isArray(value)

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

/** Postgres' containment of jsonb and of arrays, as far as the drawn values need it. */
const contains = (whole: unknown, part: unknown): boolean => {
  if (Array.isArray(part))
    return Array.isArray(whole) && part.every((one) => whole.some((other) => contains(other, one)))
  if (isObject(part))
    return isObject(whole) && Object.entries(part).every(([name, one]) => name in whole && contains(whole[name], one))
  return same(whole, part)
}

const keysOf = (value: unknown): readonly unknown[] =>
  Array.isArray(value) ? value : isObject(value) ? Object.keys(value) : [value]

const likePattern = (pattern: string, flags: string): RegExp =>
  new RegExp(
    `^${pattern
      .replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')
      .replaceAll('%', '[^]*')
      .replaceAll('_', '[^]')}$`,
    flags,
  )

const ordered =
  (test: (order: number) => boolean) =>
  (a: unknown, b: unknown): boolean =>
    test(Number(a) < Number(b) ? -1 : Number(a) > Number(b) ? 1 : 0)

const onTexts =
  (test: (a: string, b: string) => boolean) =>
  (a: unknown, b: unknown): boolean =>
    test(String(a), String(b))

const binary: Readonly<Record<string, (a: unknown, b: unknown) => boolean>> = {
  eq: same,
  neq: (a, b) => !same(a, b),
  gt: ordered((order) => order > 0),
  lt: ordered((order) => order < 0),
  gte: ordered((order) => order >= 0),
  lte: ordered((order) => order <= 0),
  like: onTexts((a, b) => likePattern(b, '').test(a)),
  nlike: onTexts((a, b) => !likePattern(b, '').test(a)),
  ilike: onTexts((a, b) => likePattern(b, 'i').test(a)),
  nilike: onTexts((a, b) => !likePattern(b, 'i').test(a)),
  similar: onTexts((a, b) => new RegExp(`^(?:${b})$`).test(a)),
  nsimilar: onTexts((a, b) => !new RegExp(`^(?:${b})$`).test(a)),
  regex: onTexts((a, b) => new RegExp(b).test(a)),
  iregex: onTexts((a, b) => new RegExp(b, 'i').test(a)),
  nregex: onTexts((a, b) => !new RegExp(b).test(a)),
  niregex: onTexts((a, b) => !new RegExp(b, 'i').test(a)),
  contains,
  contained_in: (a, b) => contains(b, a),
  has_key: (a, b) => keysOf(a).includes(b),
  has_keys_any: (a, b) => (b as unknown[]).some((key) => keysOf(a).includes(key)),
  has_keys_all: (a, b) => (b as unknown[]).every((key) => keysOf(a).includes(key)),
}

const sessionValue = (value: unknown, like: unknown, { session }: Rows): unknown => {
  if (typeof value !== 'string' || !/^x-hasura-/i.test(value)) return value
  const text = session[value.toLowerCase()] ?? null
  if (text !== null && /^\{.*\}$/.test(text)) return text.slice(1, -1).split(',').map(Number)
  return typeof like === 'number' ? Number(text) : text
}

function compared(row: Row, column: string, operator: string, given: unknown, root: Row, rows: Rows): Truth {
  const left = row[column] ?? null
  const bare = operator.slice(1)
  const value = sessionValue(given, left, rows)
  if (bare === 'is_null') return (left === null) === (value === true)
  if (bare === 'in' || bare === 'nin') {
    const found = or((value as unknown[]).map((one) => (left === null || one === null ? null : same(left, one))))
    return bare === 'in' ? found : not(found)
  }
  if (/^c(?:eq|neq|gt|lt|gte|lte)$/.test(bare)) {
    const path = Array.isArray(given) ? given : [given]
    const right = path.length === 2 ? root[String(path[1])] : row[String(path[0])]
    return left === null || right === null || right === undefined
      ? null
      : (binary[bare.slice(1)]?.(left, right) ?? null)
  }
  const test = binary[bare]
  if (test === undefined) throw new Error(`no meaning of ${operator}`)
  return left === null || value === null ? null : test(left, value)
}

/** Whether a row meets a condition of a permission. */
export function truthOf(condition: Row, row: Row, table: string, rows: Rows, root: Row = row): Truth {
  const some = (name: string, where: unknown, pairs: readonly (readonly [string, string])[]): boolean =>
    (rows.tables[name]?.rows ?? []).some(
      (other) =>
        pairs.every(([local, foreign]) => row[local] !== null && same(row[local], other[foreign])) &&
        truthOf(where as Row, other, name, rows, root) === true,
    )
  return and(
    Object.entries(condition).map(([name, value]): Truth => {
      if (name === '_and') return and((value as Row[]).map((one) => truthOf(one, row, table, rows, root)))
      if (name === '_or') return or((value as Row[]).map((one) => truthOf(one, row, table, rows, root)))
      if (name === '_not') return not(truthOf(value as Row, row, table, rows, root))
      if (name === '_exists') {
        const { _table, _where } = value as { _table: { name: string }; _where: Row }
        return some(_table.name, _where, [])
      }
      const related = rows.tables[table]?.related[name]
      if (related !== undefined) return some(related.table, value, related.pairs)
      return and(
        Object.entries(value as Row).map(([operator, given]) => compared(row, name, operator, given, root, rows)),
      )
    }),
  )
}
