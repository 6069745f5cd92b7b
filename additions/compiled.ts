import type { ReadApart } from '../runtime/graphql/compiled/apart.ts'
import type { ReadDocumentFile } from '../runtime/graphql/compiled/documents.ts'
import { serveDocuments } from '../runtime/graphql/compiled/serve.ts'
import type { CellOptions } from '../runtime/graphql/run/turn.ts'
import type { GraphqlService, ServiceParts } from '../runtime/graphql/serve.ts'

/** What additions are to compiled documents, apart from table.ts: a handler loads neither a parser nor a compiler. */

/** Extensions of answers that only documents as text have. */
const textOnly = {
  explain: true,
  schemaReport: true,
}

/** What answers compiled documents. */
export function createCompiledService(
  parts: ServiceParts,
  readFile: ReadDocumentFile,
  apart?: ReadApart | null,
  ofCell?: CellOptions,
): GraphqlService {
  return serveDocuments(parts, Object.keys(textOnly), readFile, apart, ofCell)
}
