/**
 * The kind of a password hash: its beginning, up to its salt. An index of auth.users has the foreign kinds, which do
 * not occur in most projects.
 */

/** Null for a text that is not a supported hash (algorithms.ts). */
export const hashKind = `substring(encrypted_password from
  '^(\\$2[aby]\\$(?:0[4-9]|1[0-4])|\\$argon2id?\\$v=\\d+\\$m=\\d{1,6},t=\\d{1,2}|\\$fbscrypt\\$v=1,n=\\d{1,2},r=\\d{1,2},p=\\d)')`

/** Bcrypt up to cost 10 is never slower than our own. */
export const isForeignHash = `encrypted_password <> '' and encrypted_password !~ '^\\$2[aby]\\$(?:0[4-9]|10)\\$'`

export const hashKindsIndex = `create index if not exists users_hash_kind_idx on auth.users ((${hashKind})) where ${isForeignHash}`
