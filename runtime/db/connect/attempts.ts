/** True if the next attempt may be made after this failure. */
type GoesOn = (error: unknown) => boolean

/** Resolves with the first success; rejects with the last failure, or with the first for which `goesOn` is false. */
export const inTurn = async <A, T>(all: readonly A[], work: (attempt: A) => Promise<T>, goesOn: GoesOn): Promise<T> => {
  let failure: unknown
  for (const attempt of all) {
    try {
      return await work(attempt)
    } catch (error) {
      if (!goesOn(error)) throw error
      failure = error
    }
  }
  throw failure
}

/** Makes the same attempts on every call, beginning with the one that succeeded last. */
export type Attempts<A> = <T>(work: (attempt: A) => Promise<T>, goesOn: GoesOn) => Promise<T>

export const attemptsOf = <A>(all: readonly A[]): Attempts<A> => {
  let order = all
  return (work, goesOn) =>
    inTurn(
      order,
      async (attempt) => {
        const result = await work(attempt)
        order = [attempt, ...all.filter((one) => one !== attempt)]
        return result
      },
      goesOn,
    )
}
