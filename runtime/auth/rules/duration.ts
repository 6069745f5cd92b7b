/** Durations in Go's notation (`24h`, `1h30m`, `1.5h`), which the admin API accepts (spec/auth.md 11). */

const unitSeconds: Readonly<Record<string, number>> = { ns: 1e-9, us: 1e-6, µs: 1e-6, ms: 1e-3, s: 1, m: 60, h: 3600 }

/** The maximum of Go's type: about 292 years. */
const longest = 2 ** 63 / 1e9

/** Seconds; null if it is not a duration. */
export function durationSeconds(text: string): number | null {
  if (!/^(?:\d+(?:\.\d+)?(?:ns|us|µs|ms|s|m|h))+$/.test(text)) return null
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h)/g)]
  const seconds = parts.reduce((sum, [, number, unit = '']) => sum + Number(number) * (unitSeconds[unit] ?? 0), 0)
  return seconds <= longest ? seconds : null
}
