import { eachMember, jsonOf } from './additions.ts'
import { type Decoder, isJsonList } from './decoders.ts'

/** Settings of a relation for single columns and roles (spec/graphql.md 17.5); malformed parts are reported. */

/** A column, by SQL name, as one role finds it; `public` is all roles. */
export interface ColumnAccess {
  readonly role: string
  readonly column: string
  readonly absentFrom: 'inputs' | 'answers'
  readonly set?: SetExpressions
}

export interface SetExpressions {
  /** Null: an insert does not set it. */
  readonly insert: string | null
  /** Null: an update does not change it. */
  readonly update: string | null
}

/** `{"authenticated": ["views"]}`. */
export const columnsAbsentFrom =
  (absentFrom: ColumnAccess['absentFrom']): Decoder<readonly ColumnAccess[]> =>
  (value) =>
    eachMember(value, (role, given) => {
      const columns = isJsonList(given) ? given.filter((name) => typeof name === 'string') : []
      const isRight = isJsonList(given) && columns.length === given.length
      return {
        found: columns.map((column) => ({ role, column, absentFrom })),
        remarks: isRight ? [] : [`for ${jsonOf(role)}, ${jsonOf(given)} is no list of columns`],
      }
    })
