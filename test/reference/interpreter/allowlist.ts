import { createHash } from 'node:crypto'
import type { Question, World } from './world.ts'

/** The allow-listed documents, and the governed roles (spec/graphql.md 17). */

export const hashOf = (document: string): string => createHash('sha256').update(document, 'utf8').digest('hex')

export const isListed = ({ allowlist }: World, document: string): boolean =>
  allowlist?.digits.includes(hashOf(document).slice(0, 1)) ?? false

export const mayRun = (world: World, { role, document }: Question): boolean =>
  world.allowlist === undefined ||
  !(world.allowlist.roles ?? ['anon', 'authenticated']).includes(role) ||
  isListed(world, document)
