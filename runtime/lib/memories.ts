import { createLru } from './lru.ts'
import { createMemo, withoutMemory, type Memo } from './memo.ts'

/** What one engine after the other remembers of a manifest as roles with the same privileges see it. */
export interface RoleMemory {
  /** Of what is the same for all roles. */
  readonly shared: Memo
  readonly own: Memo
}

export interface Memories {
  readonly shared: Memo
  /** @param privileges equal texts for equal ones */
  readonly of: (privileges: string) => RoleMemory
}

/** A token can only name roles that exist, but a database may have thousands of them. */
export const maxRoles = 64

export function createMemories(): Memories {
  const shared = createMemo()
  const known = createLru<string, RoleMemory>(maxRoles)
  return {
    shared,
    of: (privileges) => {
      const memory = known.get(privileges) ?? { shared, own: createMemo() }
      known.set(privileges, memory)
      return memory
    },
  }
}

export const withoutMemories: RoleMemory = { shared: withoutMemory, own: withoutMemory }
