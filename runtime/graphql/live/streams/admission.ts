import { addToCount } from '../../../lib/byte-budget.ts'
import type { StreamLimits, StreamOwner, StreamRefusal } from './stream-types.ts'

export interface StreamCounts {
  readonly limits: StreamLimits
  readonly parties: Map<string, number>
  streams: number
}

/** The exceeded limit that prevents another stream of this caller; null: none. */
export function refusalFor({ limits, parties, streams }: StreamCounts, owner: StreamOwner): 'party' | 'all' | null {
  if (streams >= limits.streams) return 'all'
  // The owner's key is used on servers.
  return owner.kind !== 'service' && (parties.get(owner.party) ?? 0) >= limits.streamsOfParty ? 'party' : null
}

export function countStream(counts: StreamCounts, { party }: StreamOwner, by: 1 | -1): void {
  counts.streams += by
  addToCount(counts.parties, party, by)
}

/** Sentences for refused streams. */
export const streamRefusals: Readonly<Record<StreamRefusal, string>> = {
  party: 'There are too many streams of this caller; close one first.',
  all: 'There are too many streams at the moment; try again shortly.',
  memory: 'The server is short of memory for streams; try again shortly.',
}
