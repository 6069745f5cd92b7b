import type { EntityFacts, Manifest } from '../contract/manifest.ts'
import type { Steps } from '../lib/steps.ts'
import type { VisibleRelations } from '../settings/log/events.ts'
import { ident, qualified } from '../sql/ident.ts'
import { openColumns } from './secret-columns.ts'
import type { RoleVisibility } from './view.ts'

/** The extent of the API in a database. */
export interface Summary {
  /** Tables and views of the served schemas. */
  readonly relations: number
  readonly visible: readonly VisibleRelations[]
  /** SQL that grants access to everything that does not look like a secret, if no role sees anything; else null. */
  readonly missingGrants: string | null
}

/** The roles of keys and sessions. */
export const apiRoles = ['anon', 'authenticated', 'service_role'] as const

const to = 'to anon, authenticated'

/** A grant on a whole table includes its secret columns, so these tables get column grants. */
function grants(schema: string, entities: readonly EntityFacts[]): string {
  const narrower = entities.filter((entity) => entity.schema === schema).flatMap(withoutSecrets)
  const all = `grant usage on schema ${ident(schema)} ${to}; grant select on all tables in schema ${ident(schema)} ${to};`
  return [all, ...narrower].join(' ')
}

function withoutSecrets({ schema, relation, columns }: EntityFacts): readonly string[] {
  const open = openColumns(columns)
  if (open.length === columns.length) return []
  const table = qualified(schema, relation)
  const revoked = `revoke select on ${table} from anon, authenticated;`
  return [open.length === 0 ? revoked : `${revoked} grant select (${open.join(', ')}) on ${table} ${to};`]
}

/** @param visibleTo the visible part of the manifest for a role: one step each */
export function* summaryOf(manifest: Manifest, visibleTo: (role: string) => RoleVisibility): Steps<Summary> {
  const visible: VisibleRelations[] = []
  let sees = false
  for (const role of apiRoles) {
    yield
    const { exposed, insertOnly, seesFunction } = visibleTo(role)
    visible.push({ role, relations: exposed.length })
    sees ||= exposed.length > 0 || insertOnly.length > 0 || manifest.functions.some((fn) => seesFunction(fn))
  }
  return {
    relations: manifest.entities.length,
    visible,
    missingGrants: sees ? null : manifest.schemas.map(({ name }) => grants(name, manifest.entities)).join(' '),
  }
}
