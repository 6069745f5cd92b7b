import type { Manifest, EntityFacts } from '../../../../runtime/contract/manifest.ts'
import { buildView } from '../../../additions/engine.ts'
import { severities, type ApiChange } from './change.ts'
import { judgeDocuments, type GivenDocument, type JudgedDocuments } from './document-changes.ts'
import { movedNames } from './migration.ts'
import { policyChanges, type Policies, privilegeChanges, type PrivilegeChanges } from './privilege-changes.ts'
import { schemaChanges } from './schema-changes.ts'
import { settingChanges } from './setting-changes.ts'
import type { RoleVisibility } from '../../../../runtime/engine/view.ts'
import { nameObject } from '../../../catalog/catalog.ts'

export interface Comparison {
  readonly breaking: boolean
  /** The worst first; without duplicates, with their roles. */
  readonly changes: readonly RoleChange[]
  readonly documents: JudgedDocuments & { readonly judged: number }
  readonly privileges: Readonly<Record<string, PrivilegeChanges>>
}

export interface RoleChange extends ApiChange {
  readonly roles: readonly string[]
}

/** An API, and the policies of its database; artifacts contain none. */
export interface SchemaState {
  readonly manifest: Manifest
  readonly policies: Policies | null
}

export function compareApis(
  before: SchemaState,
  after: SchemaState,
  roles: readonly string[],
  documents: readonly GivenDocument[],
): Comparison {
  const old = roles.map((role) => buildView(before.manifest, role))
  const now = roles.map((role) => buildView(after.manifest, role))
  const ofPolicies = (role: string): readonly ApiChange[] =>
    before.policies === null || after.policies === null ? [] : policyChanges(before.policies, after.policies, role)
  const pairs = old.flatMap((view, index) => (now[index] === undefined ? [] : [[view, now[index]] as const]))
  const changes = merged(
    pairs.flatMap(([one, other]) =>
      [
        ...schemaChanges(one.complete(), other.complete()),
        ...settingChanges(one, other),
        ...movedNames(one, other),
        ...ofPolicies(one.role),
      ].map((change) => ({ ...change, roles: [one.role] })),
    ),
  ).concat(
    unusedObjects(
      old.map(({ visible }) => visible),
      now.map(({ visible }) => visible),
    ).map((change) => ({ ...change, roles })),
  )
  const judged = judgeDocuments(documents, old, now)
  return {
    breaking: judged.broken.length > 0 || changes.some(({ severity }) => severity === 'breaking'),
    changes,
    documents: { judged: documents.length, ...judged },
    privileges: Object.fromEntries(
      pairs.map(([one, other]) => [one.role, privilegeChanges(one.visible, other.visible)]),
    ),
  }
}

/** Equal changes of several roles are merged; the worst come first, otherwise in the order of roles and types. */
function merged(all: readonly RoleChange[]): readonly RoleChange[] {
  const byText = new Map<string, RoleChange>()
  for (const change of all) {
    const key = `${change.severity} ${change.description}`
    const known = byText.get(key)
    byText.set(key, known === undefined ? change : { ...known, roles: [...known.roles, ...change.roles] })
  }
  return severities.flatMap((severity) => [...byText.values()].filter((change) => change.severity === severity))
}

/** New tables, views and functions that none of the roles may use: they are in no schema. */
function unusedObjects(before: readonly RoleVisibility[], after: readonly RoleVisibility[]): readonly ApiChange[] {
  const [old, now] = [before[0]?.manifest, after[0]?.manifest]
  if (old === undefined || now === undefined) return []
  const entities = new Set(old.entities.map(({ id }) => id))
  const functions = new Set(old.functions.map(({ id }) => id))
  return [
    ...now.entities
      .filter((entity) => !entities.has(entity.id) && !after.some((role) => mayRead(role, entity)))
      .map(({ kind, schema, relation }) =>
        unused(nameObject(kind, schema, relation), 'none of these roles may read it'),
      ),
    ...now.functions
      .filter(
        ({ id, schema, execute }) =>
          !functions.has(id) && !after.some((role) => uses(role, schema) && role.can(execute)),
      )
      .map((fn) => unused(nameObject('function', fn.schema, fn.function), 'none of these roles may call it')),
  ]
}

const unused = (object: string, why: string): ApiChange => ({
  severity: 'addition',
  kind: 'UNUSED_OBJECT',
  description: `The ${object} is new, and ${why}.`,
})

const uses = ({ manifest, can }: RoleVisibility, schema: string): boolean =>
  manifest.schemas.some(({ name, usage }) => name === schema && can(usage))

const mayRead = (role: RoleVisibility, { schema, grants, columns }: EntityFacts): boolean =>
  uses(role, schema) && (role.can(grants.select) || columns.some((column) => role.can(column.grants.select)))
