import type { EntityFacts, Manifest } from '../contract/manifest.ts'
import type { Steps } from '../lib/steps.ts'
import type { VisibleRelations } from '../settings/log/events.ts'
import { ident, qualified } from '../sql/ident.ts'
import { openColumns } from './secret-columns.ts'
import type { RoleVisibility } from './view.ts'

/** How much of a database its API shows. */
export interface Summary {
  /** Tables and views of the served schemas. */
  readonly relations: number
  readonly visible: readonly VisibleRelations[]
  /** SQL that publishes what is there and looks like no secret, where no role sees anything; else null. */
  readonly missingGrants: string | null
}

/** The roles that keys and sessions are for. */
export const apiRoles = ['anon', 'authenticated', 'service_role'] as const

const to = 'to anon, authenticated'

/** A grant on a whole table is one on columns that look like secrets, too, so that these tables get narrower ones. */
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

/** @param visibleTo what a role may see of the manifest: a step each */
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
