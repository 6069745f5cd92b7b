import type { Manifest } from '../contract/manifest.ts'
import type { Steps } from '../lib/steps.ts'
import type { VisibleRelations } from '../log/events.ts'
import { ident } from '../sql/ident.ts'
import type { RoleVisibility } from './view.ts'

/** How much of a database its API shows. */
export interface Summary {
  /** Tables and views of the served schemas. */
  readonly relations: number
  readonly visible: readonly VisibleRelations[]
  /** SQL that publishes what is there, where no role sees anything; else null. */
  readonly missingGrants: string | null
}

/** The roles that keys and sessions are for. */
export const apiRoles = ['anon', 'authenticated', 'service_role'] as const

const grants = (schema: string): string => {
  const to = 'to anon, authenticated'
  return `grant usage on schema ${ident(schema)} ${to}; grant select on all tables in schema ${ident(schema)} ${to};`
}

/** @param visibleTo what a role may see of the manifest: a step each */
export function* summaryOf(manifest: Manifest, visibleTo: (role: string) => RoleVisibility): Steps<Summary> {
  const visible: VisibleRelations[] = []
  let sees = false
  for (const role of apiRoles) {
    yield
    const { exposed, seesFunction } = visibleTo(role)
    visible.push({ role, relations: exposed.length })
    sees ||= exposed.length > 0 || manifest.functions.some((fn) => seesFunction(fn))
  }
  return {
    relations: manifest.entities.length,
    visible,
    missingGrants: sees ? null : manifest.schemas.map(({ name }) => grants(name)).join(' '),
  }
}
