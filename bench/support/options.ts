/** `--name value` and `--name` on a benchmark's command line. */
export interface Options {
  readonly text: (name: string) => string | null
  /** All values after the name, up to the next name. */
  readonly texts: (name: string) => readonly string[]
  readonly number: (name: string, fallback: number) => number
  readonly numbers: (name: string, fallback: readonly number[]) => readonly number[]
  readonly flag: (name: string) => boolean
}

export const readOptions = (args: readonly string[] = process.argv.slice(2)): Options => {
  const texts = (name: string): readonly string[] => {
    const at = args.indexOf(`--${name}`)
    const values = at === -1 ? [] : args.slice(at + 1)
    const end = values.findIndex((value) => value.startsWith('--'))
    return end === -1 ? values : values.slice(0, end)
  }
  const text = (name: string): string | null => texts(name)[0] ?? null
  const numberOf = (name: string, value: string): number => {
    const number = Number(value)
    if (!Number.isFinite(number)) throw new Error(`--${name} takes a number, not ${value}`)
    return number
  }
  return {
    text,
    texts,
    number: (name, fallback) => numberOf(name, text(name) ?? String(fallback)),
    numbers: (name, fallback) =>
      text(name)
        ?.split(',')
        .map((value) => numberOf(name, value)) ?? fallback,
    flag: (name) => args.includes(`--${name}`),
  }
}
