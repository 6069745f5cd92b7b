import { readCatalog } from '../../compiler/catalog/read.ts'
import type { Catalog, CatalogRelation, Oid } from '../../compiler/catalog/catalog.ts'
import type { TestDatabase } from './database.ts'

/** Reads a test database's catalogue as its superuser. */
export const catalogOf = (
  database: TestDatabase,
  schemas: readonly string[] = ['public'],
  version: string | null = null,
): Promise<Catalog> => readCatalog((text, values) => database.query(text, values), { schemas, version })

export const relationNamed = (catalog: Catalog, name: string): CatalogRelation => {
  const found = catalog.relations.find((relation) => relation.name === name)
  if (found === undefined) throw new Error(`no relation ${name}`)
  return found
}

/** The printed name of a type in the catalogue's list. */
export const typeName = (catalog: Catalog, oid: Oid | null): string | null =>
  oid === null ? null : (catalog.types.find((type) => type.oid === oid)?.text ?? `no type ${oid}`)
