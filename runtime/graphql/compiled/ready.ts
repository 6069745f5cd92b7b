import type { Ready } from '../run/request-state.ts'
import { withinStack } from '../protocol/failures.ts'
import { bindAll } from '../run/bind.ts'
import { interestsOf } from '../run/interests.ts'
import type { KnownOperation } from './documents.ts'

/**
 * The statements that a compiled operation runs with these variables.
 * @param watches whether the interests for live queries are needed
 * @throws Refusal for variables that cannot be used
 */
export function readyFor(
  operation: KnownOperation,
  variables: Readonly<Record<string, unknown>>,
  watches: boolean,
): Ready {
  const made = withinStack(() => operation.ready(variables))
  const { writes, pieces } = made.statements
  return { writes, pieces, bound: bindAll(made), interests: watches ? interestsOf(made) : undefined }
}
