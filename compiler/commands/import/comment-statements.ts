import type { CatalogSchema } from '../../catalog/catalog.ts'
import { withSettings, type JsonObject } from '../../../runtime/lib/json.ts'
import { ident } from '../../../runtime/sql/ident.ts'
import { literal } from '../../../runtime/sql/tree.ts'
import { commentOn, printComment, type NewComment } from '../advise/annotate/comments.ts'
import type { ImportedStatement } from './imported.ts'

/** Those that change something. */
export const commentStatements = (comments: ReadonlyMap<string, NewComment>): readonly ImportedStatement[] =>
  [...comments.values()]
    .filter(({ on, text }) => commentOn(on) !== text)
    .map((comment) => ({ remarks: [], sql: printComment(comment).replace(/;$/, '') }))

/** The settings that the schema's comment does not have yet; nothing if they are all there. */
export function schemaComment({ name, comment }: CatalogSchema, settings: JsonObject): readonly ImportedStatement[] {
  const text = withSettings(comment, (present) => ({ ...settings, ...present }))
  return text === null || text === comment
    ? []
    : [{ remarks: [], sql: `comment on schema ${ident(name)} is ${literal(text)}` }]
}
