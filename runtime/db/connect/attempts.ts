/** Whether a failure leaves the next attempt a chance. */
type GoesOn = (error: unknown) => boolean

/** Resolves with the first success, rejects with the last failure or with the first that does not go on. */
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

/** The same again and again, beginning with what served last. */
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
