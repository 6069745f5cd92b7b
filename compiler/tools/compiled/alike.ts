import type { Manifest } from '../../../runtime/contract/manifest.ts'
import { factsOf } from '../../../runtime/contract/role-facts.ts'

/** For each role the first of those of which the manifest says the same: documents run the same for them. */
export function alikeRoles(manifest: Manifest, roles: readonly string[]): ReadonlyMap<string, string> {
  const firsts: string[] = []
  return new Map(
    roles.map((role) => {
      const like = firsts.find((first) => areAlike(manifest, first, role))
      if (like === undefined) firsts.push(role)
      return [role, like ?? role] as const
    }),
  )
}

/**
 * Whether each list of names in the manifest has both roles or neither, by themselves or by what they inherit from, and no other
 * place has a name of theirs. What else a name may stand for makes roles differ that are alike, and never the other way round.
 */
function areAlike({ holders: _all, roles, ...said }: Manifest, one: string, other: string): boolean {
  const [left, right] = [factsOf({ roles }, one), factsOf({ roles }, other)]
  if (left.superuser !== right.superuser) return false
  const [own, others] = [new Set(left.effective), new Set(right.effective)]
  const isOfOne = (name: string): boolean => own.has(name) !== others.has(name)
  const saysTheSame = (value: unknown): boolean => {
    if (typeof value === 'string') return !isOfOne(value)
    if (typeof value !== 'object' || value === null) return true
    const items: readonly unknown[] = Object.values(value)
    if (!Array.isArray(value) || !value.every((item) => typeof item === 'string')) return items.every(saysTheSame)
    return value.some((name) => own.has(name)) === value.some((name) => others.has(name))
  }
  return saysTheSame(said)
}
