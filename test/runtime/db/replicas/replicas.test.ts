import { describe, expect, it } from 'vitest'
import { laterPosition, positionText, readPosition, type Position } from '../../../../runtime/contract/execution.ts'
import { createHistory } from '../../../../runtime/db/replicas/history.ts'
import { endOfRecords } from '../../../../runtime/db/replicas/replication-status.ts'
import { createWrites } from '../../../../runtime/db/replicas/last-writes.ts'

const at = (timeline: number, lsn: number): Position => ({ timeline, lsn: BigInt(lsn) })
const sightOf = (timeline: number, lsn: number) => ({ position: at(timeline, lsn), system: 'one', started: '1' })

describe('positions', () => {
  it('travel as text, and nothing else is one', () => {
    const position = { timeline: 3, lsn: 0x1_016b_3748n }
    expect(positionText(position)).toBe('3/1/16B3748')
    expect(readPosition('3/1/16b3748')).toEqual(position)
    for (const text of [undefined, '', '3', '3/1', '3/1/X', '3/1/16B3748/', '-1/0/0', '1/0/123456789', ['1/0/1']])
      expect(readPosition(text)).toBeNull()
  })

  it('are later on a newer timeline, wherever they lie there', () => {
    expect(laterPosition(at(1, 900), at(2, 100))).toEqual(at(2, 100))
    expect(laterPosition(at(2, 100), at(2, 101))).toEqual(at(2, 101))
    expect(laterPosition(null, at(1, 1))).toEqual(at(1, 1))
  })

  it('end before the header of a page that is not written yet', () => {
    const [page, segment] = [8_192n, 16_777_216n]
    expect(endOfRecords(3n * page + 24n, page, segment)).toBe(3n * page)
    expect(endOfRecords(2n * segment + 40n, page, segment)).toBe(2n * segment)
    // A record that goes on behind a header may end there.
    expect(endOfRecords(3n * page + 40n, page, segment)).toBe(3n * page + 40n)
    expect(endOfRecords(3n * page + 32n, page, segment)).toBe(3n * page + 32n)
  })
})

describe('the history of a primary', () => {
  it('says how old a replica is by the last place that it has replayed', () => {
    const history = createHistory(1_000)
    history.add(0, sightOf(1, 100))
    history.add(500, sightOf(1, 200))
    history.add(900, sightOf(1, 200))
    expect([99, 100, 199, 200].map((lsn) => history.freshAt(BigInt(lsn)))).toEqual([-Infinity, 0, 0, 900])
    history.add(1_200, sightOf(1, 300))
    expect(history.freshAt(150n)).toBe(-Infinity)
  })

  it('begins again with a timeline, and does not wait for writes that were lost with the one before', () => {
    const history = createHistory(1_000)
    history.add(0, sightOf(1, 900))
    history.add(10, sightOf(2, 500))
    expect(history.freshAt(499n)).toBe(-Infinity)
    expect(history.contains(499n, at(1, 900))).toBe(false)
    expect(history.contains(500n, at(1, 900))).toBe(true)
    expect(history.contains(10_000n, at(3, 1))).toBe(false)
  })
})

describe('writes', () => {
  it('are not known of before the primary was asked once', () => {
    const writes = createWrites(100)
    writes.seen(99, at(1, 5))
    expect(writes.of('anna')).toBe('unknown')
    writes.seen(100, at(1, 7))
    expect(writes.of('anna')).toEqual(at(1, 7))
  })

  it('belong to their caller, unless all callers must see them or they are not known', () => {
    const writes = createWrites(0)
    writes.seen(1, at(1, 1))
    writes.note({ party: 'anna', position: at(1, 50) }, 2)
    expect([writes.of('anna'), writes.of('ben')]).toEqual([at(1, 50), at(1, 1)])
    writes.note({ party: null, position: at(1, 60) }, 3)
    expect([writes.of('anna'), writes.of('ben')]).toEqual([at(1, 60), at(1, 60)])
    writes.note({ party: null, position: null }, 4)
    writes.seen(3, at(1, 61))
    expect(writes.of('ben')).toBe('unknown')
    writes.seen(5, at(1, 62))
    expect(writes.of('ben')).toEqual(at(1, 62))
  })

  it('that are not known of keep their caller alone from replicas', () => {
    const writes = createWrites(0)
    writes.seen(1, at(1, 1))
    writes.note({ party: 'anna', position: null }, 2)
    expect([writes.of('anna'), writes.of('ben')]).toEqual(['unknown', at(1, 1)])
    writes.seen(1, at(1, 8))
    expect(writes.of('anna')).toBe('unknown')
    writes.seen(3, at(1, 9))
    expect([writes.of('anna'), writes.of('ben')]).toEqual([at(1, 9), at(1, 1)])
    for (let party = 0; party <= 10_000; party += 1) writes.note({ party: `p${party}`, position: null }, 4)
    expect(writes.of('ben')).toBe('unknown')
  })

  it('count for all callers where too many have written', () => {
    const writes = createWrites(0)
    writes.seen(1, at(1, 1))
    for (let party = 0; party <= 10_000; party += 1) writes.note({ party: `p${party}`, position: at(1, 10 + party) }, 2)
    expect(writes.of('p3')).toEqual(at(1, 10_010))
    expect(writes.of('nobody')).toEqual(at(1, 10_010))
  })
})
