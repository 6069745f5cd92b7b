import type { Manifest } from '../../runtime/contract/manifest.ts'
import { refusalOf } from '../../runtime/contract/facts.ts'
import { CommandFailure } from './command.ts'

/** @throws CommandFailure if a comment makes all requests of one of the roles fail (spec/graphql.md 13.1) */
export function demandReadable(manifest: Manifest, roles: readonly string[], exitCode: number): void {
  for (const role of roles) {
    const refusal = refusalOf(manifest, role)
    if (refusal !== null) throw new CommandFailure(`a comment makes every request fail: ${refusal}`, exitCode)
  }
}
