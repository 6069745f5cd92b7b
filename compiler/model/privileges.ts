import type { ColumnGrants, Grantees, TableGrants } from '../../runtime/contract/manifest.ts'
import { grantees } from '../catalog/privileges.ts'
import type { CatalogGrant } from '../catalog/catalog.ts'

/** The privileges of roles, object by object (spec/graphql.md 1.4); roles.ts has their memberships. */

interface Granted {
  readonly grants: readonly CatalogGrant[]
}

export const tableGrants = (grants: readonly CatalogGrant[]): TableGrants => ({
  select: grantees(grants, 'SELECT', 'relation'),
  insert: grantees(grants, 'INSERT', 'relation'),
  update: grantees(grants, 'UPDATE', 'relation'),
  delete: grantees(grants, 'DELETE', 'relation'),
})

export const columnGrants = ({ grants }: Granted): ColumnGrants =>
  grants.length === 0 ? noColumnGrants : readColumnGrants(grants)

const readColumnGrants = (grants: readonly CatalogGrant[]): ColumnGrants => ({
  select: grantees(grants, 'SELECT', 'column'),
  insert: grantees(grants, 'INSERT', 'column'),
  update: grantees(grants, 'UPDATE', 'column'),
})

/** Most columns have no own grants. */
const noColumnGrants = readColumnGrants([])

export const schemaUsage = ({ grants }: Granted): Grantees => grantees(grants, 'USAGE', 'schema')

export const typeUsage = ({ grants }: Granted): Grantees => grantees(grants, 'USAGE', 'type')

export const execution = ({ grants }: Granted): Grantees => grantees(grants, 'EXECUTE', 'function')
