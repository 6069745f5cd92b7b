import type { Ident } from './tree.ts'

/**
 * Names in SQL text. Always quoted: a name then is never a keyword, never folded to lower case and never ends early.
 * Source: PostgreSQL manual, 4.1.1 Identifiers and Key Words (a quote inside is doubled).
 */

/** `user "x"` -> `"user ""x"""`. */
export const ident = (name: string): Ident => `"${name.replaceAll('"', '""')}"` as Ident

/** A relation, type or function with its schema: `"public"."posts"`. */
export const qualified = (schema: string, name: string): Ident => `${ident(schema)}.${ident(name)}` as Ident

/** A name of our own, which needs no quotes: `t1`. */
export const bare = (letter: string, number?: number): Ident => `${letter}${number ?? ''}` as Ident
