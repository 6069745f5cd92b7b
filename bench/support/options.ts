/** `--name value` and `--name` alone, as a benchmark's command line has them. */
export interface Options {
  readonly text: (name: string) => string | null
  readonly number: (name: string, fallback: number) => number
  readonly numbers: (name: string, fallback: readonly number[]) => readonly number[]
  readonly flag: (name: string) => boolean
}

export const readOptions = (args: readonly string[] = process.argv.slice(2)): Options => {
  const text = (name: string): string | null => {
    const at = args.indexOf(`--${name}`)
    const value = at === -1 ? undefined : args[at + 1]
    return value === undefined || value.startsWith('--') ? null : value
  }
  const numberOf = (name: string, value: string): number => {
    const number = Number(value)
    if (!Number.isFinite(number)) throw new Error(`--${name} takes a number, not ${value}`)
    return number
  }
  return {
    text,
    number: (name, fallback) => numberOf(name, text(name) ?? String(fallback)),
    numbers: (name, fallback) =>
      text(name)
        ?.split(',')
        .map((value) => numberOf(name, value)) ?? fallback,
    flag: (name) => args.includes(`--${name}`),
  }
}
