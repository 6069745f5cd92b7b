import type { ClusterSource } from '../../test/support/cluster.ts'
import { codeOf } from '../../test/support/siege/arms.ts'
import { asking, signedIn } from '../../test/support/siege/callers.ts'
import { endTown } from '../../test/support/siege/ending.ts'
import { personId } from '../../test/support/siege/schema.ts'
import { openTown, type Town } from '../../test/support/siege/town.ts'
import { openConnection } from '../support/http-client.ts'
import { figure } from '../support/statistics.ts'
import type { Row } from '../support/table.ts'

/** An action with a time limit, and its result. */
export interface MeasuredLimit {
  readonly row: Row
  readonly figures: Readonly<Record<string, number>>
}

/** Sixteen functions of 1.5 s in one mutation, with a request limit of two seconds. */
export async function longMutation(source: ClusterSource): Promise<MeasuredLimit> {
  const settings = { STATEMENT_TIMEOUT_MS: '2000', REQUEST_TIMEOUT_MS: '2000' }
  const town = await openTown({ source, settings })
  try {
    const fields = Array.from({ length: 16 }, (_, index) => `a${index}: doze(seconds: 1.5, mark: 1)`)
    const bytes = asking(signedIn(town, personId(0)), `mutation { trace(mark: 1) ${fields.join(' ')} }`)
    const connection = await openConnection(town.server.port)
    const sent = performance.now()
    const code = codeOf(await connection.send(bytes))
    const ms = performance.now() - sent
    connection.close()
    const kept = (await town.admin('select from traces')).length
    return {
      row: { what: 'mutation of 24 s, limit 2 s', ms: figure(ms), answer: code, 'left over': `${kept} rows` },
      figures: { 'siege.mutation.ms': ms, 'siege.mutation.kept': kept },
    }
  } finally {
    await town.close()
  }
}

export async function endingOf(town: Town): Promise<MeasuredLimit> {
  const { code, ms, running } = await endTown(town)
  return {
    row: {
      what: 'SIGTERM with a request of 60 s, grace 2 s',
      ms: figure(ms),
      answer: code ?? 'closed connection',
      'left over': `${running} statements`,
    },
    figures: { 'siege.ending.ms': ms, 'siege.ending.running': running },
  }
}
