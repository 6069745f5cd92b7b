import { membersOf, tableNamed, type NamedTable } from '../../comments/additions.ts'
import { type Decoder, isJsonList, member, type JsonValue } from '../../comments/decoders.ts'

/** The table of listed documents, and the roles that it governs. */
export interface Allowlist {
  /** Null if the setting names no table: then no document is listed. */
  readonly table: NamedTable | null
  readonly roles: readonly string[]
}

/** The default roles of a list (spec/graphql.md, decision 12). */
const governed = ['anon', 'authenticated']

/**
 * `{"table": "schema.table", "roles": [...]}`. A list protects, so a malformed one does not count as absent: its
 * roles may run nothing until it is fixed.
 */
export const listedDocuments: Decoder<Allowlist | null> = (value) => {
  if (value === null) return { ok: true, value: null }
  const { given, remarks } = membersOf(value, ['table', 'roles'])
  const table = tableNamed(given === null ? null : member(given, 'table'))
  const roles = roleNames(given === null ? null : member(given, 'roles'))
  return {
    ok: true,
    value: { table, roles: roles ?? governed },
    remarks: [
      ...remarks,
      ...(table === null ? ['"table" names no table as "schema.table"; until it does, nothing is listed'] : []),
      ...(roles === null ? ['"roles" is no list of names of roles'] : []),
    ],
  }
}

function roleNames(value: JsonValue): readonly string[] | null {
  if (value === null) return governed
  const names = isJsonList(value) ? value.filter((name) => typeof name === 'string') : []
  return isJsonList(value) && names.length === value.length ? names : null
}
