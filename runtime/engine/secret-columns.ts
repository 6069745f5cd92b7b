import type { ColumnFacts } from '../contract/manifest.ts'
import { ident } from '../sql/ident.ts'

/**
 * Names of columns that hold what nobody else may know, as a regular expression that JavaScript and Postgres read alike; case does
 * not count. A number, a date or a boolean is none.
 */
export const secretName =
  'passw(or)?d|passphrase|secret|twofa|totp|(^|_)otp(_|$)|(private|api|access|signing|encryption)_?key|_key$|(^|_)(hash|salt)$|hash$|tokens?$|token_'

const pattern = new RegExp(secretName, 'i')

/** Values that are texts, JSON or of a type without a scalar of its own, such as bytea. */
const holding: ReadonlySet<string> = new Set(['String', 'JSON', 'Opaque'])

const isSecret = ({ column, type }: ColumnFacts): boolean =>
  type?.kind === 'scalar' && holding.has(type.name) && pattern.test(column)

/** Those that do not look like a secret, in SQL. */
export const openColumns = (columns: readonly ColumnFacts[]): readonly string[] =>
  columns.filter((column) => !isSecret(column)).map(({ column }) => ident(column))
