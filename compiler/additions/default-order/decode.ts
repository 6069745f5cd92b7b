import { orderDirections, type DefaultOrderFacts } from '../../../runtime/contract/stated.ts'
import { isJsonObject } from '../../../runtime/lib/json.ts'
import { jsonOf } from '../../comments/additions.ts'
import { type Decoder, isJsonList, type JsonValue } from '../../comments/decoders.ts'

/** `[{"created_at": "DescNullsLast"}]`: one column per object; malformed entries are ignored. */
export const orderOfColumns: Decoder<readonly DefaultOrderFacts[]> = (value) => {
  if (value === null) return { ok: true, value: [] }
  if (!isJsonList(value)) return { ok: true, value: [], remarks: [`${jsonOf(value)} is no list`] }
  const read = value.map((item) => ({ item, term: orderTerm(item) }))
  return {
    ok: true,
    value: read.flatMap(({ term }) => term ?? []),
    remarks: read.flatMap(({ item, term }) => (term === null ? [`${jsonOf(item)} is no column with a direction`] : [])),
  }
}

function orderTerm(value: JsonValue): DefaultOrderFacts | null {
  if (!isJsonObject(value)) return null
  const [[column, asked] = ['', null], ...others] = Object.entries(value)
  const direction = orderDirections.find((name) => name === asked)
  return direction === undefined || others.length > 0 ? null : { column, direction }
}
