import type { StreamLimits, StreamOwner, StreamRefusal } from './stream-types.ts'

/** Counts streams, per caller and in total. */
export interface StreamAdmission {
  /** The exceeded limit that prevents another stream of this caller; null: none. */
  readonly refusalFor: (owner: StreamOwner) => 'party' | 'all' | null
  readonly came: (owner: StreamOwner) => void
  readonly left: (owner: StreamOwner) => void
  readonly streams: () => number
}

export function createStreamAdmission(limits: Pick<StreamLimits, 'streams' | 'streamsOfParty'>): StreamAdmission {
  const parties = new Map<string, number>()
  let streams = 0
  return {
    refusalFor: ({ party, kind }) => {
      if (streams >= limits.streams) return 'all'
      // The owner's key is used on servers.
      return kind !== 'service' && (parties.get(party) ?? 0) >= limits.streamsOfParty ? 'party' : null
    },
    came: ({ party }) => {
      streams += 1
      parties.set(party, (parties.get(party) ?? 0) + 1)
    },
    left: ({ party }) => {
      streams -= 1
      const ofParty = (parties.get(party) ?? 1) - 1
      if (ofParty === 0) parties.delete(party)
      else parties.set(party, ofParty)
    },
    streams: () => streams,
  }
}

/** Sentences for refused streams. */
export const streamRefusals: Readonly<Record<StreamRefusal, string>> = {
  party: 'There are too many streams of this caller; close one first.',
  all: 'There are too many streams at the moment; try again shortly.',
  memory: 'There is no room for another stream at the moment; try again shortly.',
}
