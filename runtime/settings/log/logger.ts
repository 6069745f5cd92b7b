import { levelOf, sentenceOf } from './events.ts'
import type { Log, LogEvent, LogEventKind, LogLevel } from './events.ts'

export interface LoggerOptions {
  /** The lowest level that is written. */
  readonly level: LogLevel | 'silent'
  /** True writes lines for people, false one JSON object per line. */
  readonly human: boolean
  /** The number of this process among several; absent: it is the only one, or the primary. */
  readonly worker?: number
  /** Texts that must never be written; each occurrence is replaced. */
  readonly secrets: readonly string[]
  readonly write: (line: string) => void
  readonly now: () => Date
}

const loudness: Readonly<Record<LogLevel | 'silent', number>> = { debug: 0, info: 1, warn: 2, error: 3, silent: 4 }

export const writes = (level: LoggerOptions['level'], kind: LogEventKind): boolean =>
  loudness[levelOf(kind)] >= loudness[level]

export function createLogger(options: LoggerOptions): Log {
  const render = options.human ? renderForPeople : renderAsJson
  return (event) => {
    if (!writes(options.level, event.kind)) return
    options.write(`${conceal(render(event, options.now(), options.worker), options.secrets)}\n`)
  }
}

function renderAsJson(event: LogEvent, time: Date, worker?: number): string {
  const { kind, ...facts } = event
  const head = { time: time.toISOString(), level: levelOf(kind), event: kind, message: sentenceOf(event), worker }
  return JSON.stringify({ ...head, ...facts })
}

function renderForPeople(event: LogEvent, time: Date, worker?: number): string {
  const who = worker === undefined ? '' : `worker ${worker}: `
  return `${time.toISOString().slice(11, 19)} ${levelOf(event.kind).padEnd(5)} ${who}${sentenceOf(event)}`
}

/** A secret may occur in a message literally, or escaped as in JSON. */
function conceal(line: string, secrets: readonly string[]): string {
  return secrets
    .flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1)])
    .filter((spelling) => spelling !== '')
    .reduce((text, spelling) => text.replaceAll(spelling, '[secret]'), line)
}
