import type { ColumnFacts } from '../contract/manifest.ts'
import { ident } from '../sql/ident.ts'

/**
 * Names of columns with secrets, as a regular expression that JavaScript and Postgres read alike, ignoring case. A
 * number, a date or a boolean is not a secret.
 */
export const secretName =
  'passw(or)?d|passphrase|secret|twofa|totp|(^|_)otp(_|$)|(private|api|access|signing|encryption)_?key|_key$|(^|_)(hash|salt)$|hash$|tokens?$|token_'

const pattern = new RegExp(secretName, 'i')

/** Values that are texts, JSON or of a type without its own scalar, such as bytea. */
const holding: ReadonlySet<string> = new Set(['String', 'JSON', 'Opaque'])

const isSecret = ({ column, type }: ColumnFacts): boolean =>
  type?.kind === 'scalar' && holding.has(type.name) && pattern.test(column)

/** Columns that do not look like a secret, in SQL. */
export const openColumns = (columns: readonly ColumnFacts[]): readonly string[] =>
  columns.filter((column) => !isSecret(column)).map(({ column }) => ident(column))
