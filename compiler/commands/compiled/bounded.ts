import type { GraphQLField } from 'graphql'
import type { Manifest } from '../../../runtime/contract/manifest.ts'
import type { Engine } from '../../../runtime/engine/engine.ts'
import { meaningOf } from '../../../runtime/engine/meaning.ts'
import type { RoleView } from '../../../runtime/engine/schema/schema.ts'
import type { RoleVisibility } from '../../../runtime/engine/view.ts'
import { parseOperation, type Operation } from '../../../runtime/graphql/operation/operation.ts'
import type { Document } from '../../../runtime/graphql/prepared/document.ts'
import {
  allowlistCacheLimits,
  createDocuments,
  type DocumentRequest,
} from '../../../runtime/graphql/prepared/documents.ts'
import { countIn, rowLimitOf } from '../../../runtime/graphql/prepared/row-limit.ts'
import {
  sizeOf,
  sumOf,
  type SizedPage,
  type RowBound,
  type RowTerm,
} from '../../../runtime/graphql/prepared/row-terms.ts'

/** A limit of rows as a sum, so that a document's statements do not depend on its page sizes. */

interface BoundedDocument {
  readonly found: Document
  /** The check that `found` leaves to its user; null: none. */
  readonly rows: RowBound | null
}

/** @throws Refusal if the text is not a valid document for the role */
export type BoundedDocuments = (asked: DocumentRequest) => BoundedDocument

export function createBoundedDocuments(engine: Engine): BoundedDocuments {
  const limited = createDocuments(engine, allowlistCacheLimits)
  const limit = rowLimitOf(engine.manifest)
  if (limit === null) return (asked) => ({ found: limited.find(asked), rows: null })
  const free = createDocuments({ ...engine, manifest: withoutRows(engine.manifest) }, allowlistCacheLimits)
  return (asked) => {
    const found = free.find(asked)
    const view = engine.view(asked.role)
    const terms = found.sketch.strict ? termsOf(view, parseOperation(view, asked.text, asked.operationName)) : null
    if (terms === null) return { found: limited.find(asked), rows: null }
    const isBound = sumOf(terms, ({ most }) => most) > limit
    return { found, rows: isBound ? { limit, terms } : null }
  }
}

const withoutRows = ({ limits, ...manifest }: Manifest): Manifest => ({
  ...manifest,
  ...(limits !== undefined && { limits: { ...limits, rows: null } }),
})

/** A document with more terms is compiled for the page sizes of its examples. */
const mostTerms = 64

/** By their pages; null: too many, or not determined by page sizes alone. */
type Terms = ReadonlyMap<string, RowTerm> | null

function termsOf(view: RoleView, operation: Operation): readonly RowTerm[] | null {
  const none = termsFrom([])
  const terms = countIn<Terms>(view, operation, {
    none,
    one: termsFrom([{ times: 1, pages: [] }]),
    plus: (some, more) => {
      if (some === null || more === null) return null
      return more.size === 0 ? some : termsFrom([...some.values(), ...more.values()])
    },
    paged: (page, each) => each && termsFrom([...each.values()].map((term) => paged(page, term))),
    named: (field) => (namesRows(view.visible, field) ? null : none),
  })
  return terms && [...terms.values()]
}

function termsFrom(all: readonly RowTerm[]): Terms {
  const terms = new Map<string, RowTerm>()
  for (const { times, pages } of all) {
    const key = JSON.stringify(pages)
    const sum = times + (terms.get(key)?.times ?? 0)
    if (!Number.isSafeInteger(sum)) return null
    if (sum > 0) terms.set(key, { times: sum, pages })
  }
  return terms.size > mostTerms ? null : terms
}

/** In a normal order, so that equal products are one term. */
function paged(page: SizedPage, { times, pages }: RowTerm): RowTerm {
  if (typeof page.asked[0] !== 'string') return { times: times * sizeOf(page, {}), pages }
  return { times, pages: [...pages, page].toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)) }
}

function namesRows(visible: RoleVisibility, field: GraphQLField<unknown, unknown>): boolean {
  const meaning = meaningOf(field)
  return visible.additions.some((one) => one.namedRows?.(visible, meaning) !== undefined)
}
