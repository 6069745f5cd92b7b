/** Pending calls to another process. */
export interface Calls<Answer> {
  /** Sends a call with a unique number; rejects when the other process has ended. */
  readonly ask: (send: (call: number) => void) => Promise<Answer>
  readonly answered: (call: number, answer: Answer) => void
  readonly failed: (call: number, error: Error) => void
  /** No more answers will come. */
  readonly giveUp: (error: Error) => void
}

interface Waiting<Answer> {
  readonly resolve: (answer: Answer) => void
  readonly reject: (error: Error) => void
}

export function createCalls<Answer>(): Calls<Answer> {
  const waiting = new Map<number, Waiting<Answer>>()
  let last = 0
  const take = (call: number): Waiting<Answer> | undefined => {
    const found = waiting.get(call)
    waiting.delete(call)
    return found
  }
  return {
    ask: (send) =>
      new Promise((resolve, reject) => {
        last += 1
        waiting.set(last, { resolve, reject })
        send(last)
      }),
    answered: (call, answer) => take(call)?.resolve(answer),
    failed: (call, error) => take(call)?.reject(error),
    giveUp: (error) => {
      for (const call of waiting.keys()) take(call)?.reject(error)
    },
  }
}
