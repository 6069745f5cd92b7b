/**
 * Names in SQL text. Always quoted: a name then never is a keyword, never is folded to lower case and never ends early.
 * Source: PostgreSQL manual, 4.1.1 Identifiers and Key Words (a quote inside is doubled).
 */

/** `user "x"` -> `"user ""x"""`. */
export const ident = (name: string): string => `"${name.replaceAll('"', '""')}"`

/** A relation, type or function with its schema: `"public"."posts"`. */
export const qualified = (schema: string, name: string): string => `${ident(schema)}.${ident(name)}`
