import type { ConditionFacts } from '../../../runtime/contract/stated.ts'
import { isJsonObject } from '../../../runtime/lib/json.ts'
import { conditionsOnColumns, eachMember, jsonOf } from '../../comments/additions.ts'
import { type Decoder, isJsonList, type JsonValue } from '../../comments/decoders.ts'

/** A relation in a comment, with the path of relations to it (spec/graphql.md 17.8). */
export interface LinkSetting {
  readonly name: string
  readonly path: readonly LinkStep[]
}

export interface LinkStep {
  /** The field of a relation. */
  readonly field: string
  /** On the rows at its end. */
  readonly conditions: readonly ConditionFacts[]
}

/**
 * `{"company": ["author", "company"], "drafts": [{"postCollection": {"status": {"eq": "draft"}}}]}`; a link with a
 * malformed part is left out.
 */
export const pathsByName: Decoder<readonly LinkSetting[]> = (value) =>
  eachMember(value, (name, given) => {
    const path = isJsonList(given) ? stepsOf(given) : null
    return path === null
      ? { found: [], remarks: [`${jsonOf(name)} is no list of relations, each with or without conditions`] }
      : { found: [{ name, path }], remarks: [] }
  })

function stepsOf(path: readonly JsonValue[]): readonly LinkStep[] | null {
  const steps = path.flatMap((item) => linkStep(item) ?? [])
  return steps.length > 0 && steps.length === path.length ? steps : null
}

function linkStep(step: JsonValue): LinkStep | null {
  if (typeof step === 'string') return { field: step, conditions: [] }
  const [[field, value] = ['', null], ...others] = isJsonObject(step) ? Object.entries(step) : []
  const read = conditionsOnColumns(value)
  const isRead = others.length === 0 && read.ok && read.value.length > 0 && (read.remarks ?? []).length === 0
  return isRead ? { field, conditions: read.value } : null
}
