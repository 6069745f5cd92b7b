import { describe, expect, it } from 'vitest'
import type { LogLevel } from '../../../../runtime/settings/log/events.ts'
import { createLogger } from '../../../../runtime/settings/log/logger.ts'

const collect = (level: LogLevel | 'silent', human: boolean) => {
  const lines: string[] = []
  const log = createLogger({
    level,
    human,
    secrets: ['pass"word\\1', ''],
    write: (line) => lines.push(line),
    now: () => new Date('2030-01-02T03:04:05Z'),
  })
  return { lines, log }
}

describe('the log', () => {
  it('writes one JSON object a line for programs', () => {
    const { lines, log } = collect('info', false)
    log({ kind: 'listening', url: 'http://127.0.0.1:1' })
    expect(lines).toEqual([
      '{"time":"2030-01-02T03:04:05.000Z","level":"info","event":"listening","message":"listening on http://127.0.0.1:1","url":"http://127.0.0.1:1"}\n',
    ])
  })

  it('writes sentences for people', () => {
    const { lines, log } = collect('info', true)
    log({ kind: 'not-ready', attempt: 1, retryInMs: 250, reason: 'no answer' })
    expect(lines).toEqual(['03:04:05 warn  not ready, trying again in 250 ms: no answer\n'])
  })

  it('leaves out what is less grave than its level, and everything when it is silent', () => {
    const { lines, log } = collect('warn', true)
    log({ kind: 'stopped' })
    log({ kind: 'revision-failed', reason: 'x' })
    expect(lines).toHaveLength(1)
    const silent = collect('silent', true)
    silent.log({ kind: 'revision-failed', reason: 'x' })
    expect(silent.lines).toEqual([])
  })

  it.each([true, false])('never writes a secret (for people: %s)', (human) => {
    const { lines, log } = collect('debug', human)
    log({ kind: 'request-failed', requestId: 'a', detail: 'connect to pass"word\\1@host' })
    expect(lines.join()).toContain('[secret]')
    expect(lines.join()).not.toContain('word')
  })
})
