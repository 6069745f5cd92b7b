import { describe, expect, it } from 'vitest'
import type { Revision } from '../../../../runtime/contract/artifact.ts'
import type { Manifest } from '../../../../runtime/contract/manifest.ts'
import { DatabaseFailure, isUnprepared } from '../../../../runtime/db/failures/failures.ts'
import { changeBetween, changeToMessage } from '../../../../runtime/http/workers/change.ts'
import { joinWorkers } from '../../../../runtime/http/workers/siblings.ts'
import {
  fromTravel,
  toMessage,
  type FromWorker,
  type ToWorker,
} from '../../../../runtime/http/workers/worker-messages.ts'

/** Messages between a worker and its primary about schemas. */

const revision: Revision = {
  id: 'one',
  version: '1.2',
  manifest: { entities: [] as Manifest['entities'] } as Manifest,
  entities: [],
  functions: '',
}

describe('a worker', () => {
  it('asks the primary whether its revision still holds', async () => {
    const sent: FromWorker[] = []
    let hear: (message: ToWorker) => void = () => undefined
    const { source } = joinWorkers({
      send: (message) => sent.push(message),
      onMessage: (listener) => (hear = listener),
      onDisconnect: () => undefined,
    })
    const asked = source()
    hear({ kind: 'revision', call: 1, change: changeToMessage(changeBetween(null, revision)) })
    const later = (await asked).later?.()
    expect(sent.at(-1)).toEqual({ kind: 'ask-later', call: 1, version: '1.2' })
    hear({ kind: 'later', call: 1, later: { version: '1.3', changed: ['["public","note"]'] } })
    expect(await later).toEqual({ version: '1.3', changed: ['["public","note"]'] })
  })

  it('learns the SQLSTATE of a failure', () => {
    const failure = new DatabaseFailure('unavailable', 'It is not there.', '42P01', null)
    expect(isUnprepared(fromTravel(toMessage(failure)))).toBe(true)
  })
})
