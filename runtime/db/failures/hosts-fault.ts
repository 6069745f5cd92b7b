/** None of several hosts served. */
export class HostsFault extends Error {
  override readonly name = 'HostsFault'
  /** Host and port -> the error. */
  readonly tried: ReadonlyMap<string, unknown>

  constructor(tried: ReadonlyMap<string, unknown>) {
    super(`None of ${[...tried.keys()].join(', ')} serves.`)
    this.tried = tried
  }
}
