/** Numbers by which what attackers started is found again in Postgres. */
export interface Marks {
  /** A number of its own; its statements may go on for so many milliseconds after those who sent them have left. */
  readonly next: (mayGoOn?: number) => number
  /** Anyone who used the mark has left. */
  readonly left: (mark: number) => void
  /** Null: anyone who uses it is still there. */
  readonly leftAt: (mark: number) => Left | null
}

export interface Left {
  /** The clock, in milliseconds since 1970. */
  readonly at: number
  readonly mayGoOn: number
}

export function createMarks(): Marks {
  const given = new Map<number, number>()
  const left = new Map<number, Left>()
  return {
    next: (mayGoOn = 0) => {
      const mark = given.size + 1
      given.set(mark, mayGoOn)
      return mark
    },
    left: (mark) => {
      if (!left.has(mark)) left.set(mark, { at: Date.now(), mayGoOn: given.get(mark) ?? 0 })
    },
    leftAt: (mark) => left.get(mark) ?? null,
  }
}

/** The marks of one of many, who may leave altogether. */
export function marksOf(marks: Marks): { readonly marks: Marks; readonly leave: () => void } {
  const own: number[] = []
  const next: Marks['next'] = (mayGoOn) => {
    const mark = marks.next(mayGoOn)
    own.push(mark)
    return mark
  }
  return { marks: { ...marks, next }, leave: () => own.forEach(marks.left) }
}

/** The alias that carries a mark in a document; Postgres shows it in the text of the statement. */
export const aliasOf = (mark: number): string => `siege_mark_${mark}`
