export type Verdict = 'ok' | 'advice' | 'fault'

export interface Finding {
  /** The subject of the check: a word for scripts. */
  readonly check: string
  readonly verdict: Verdict
  readonly message: string
  /** The remedy, in words, settings or SQL; null: none. */
  readonly fix: string | null
}

export const ok = (check: string, message: string): Finding => ({ check, verdict: 'ok', message, fix: null })

/** It works; something is missing or expensive. */
export const advise = toMend('advice')

/** Requests fail because of it. */
export const fault = toMend('fault')

function toMend(verdict: Verdict) {
  return (check: string, message: string, fix: string): Finding => ({ check, verdict, message, fix })
}

const marks: Readonly<Record<Verdict, string>> = { ok: 'ok    ', advice: 'advice', fault: 'FAULT ' }

export const printFindings = (findings: readonly Finding[]): string =>
  findings
    .flatMap(({ check, verdict, message, fix }) => [
      `${marks[verdict]}  ${check.padEnd(12)}  ${message}`,
      ...(fix === null ? [] : fix.split('\n').map((line) => `${' '.repeat(22)}-> ${line}`)),
    ])
    .join('\n')
