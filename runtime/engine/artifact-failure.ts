/** Artifacts that cannot be used. */

export type ArtifactFailureKind =
  /** There is nothing at this place, or a part of it is absent. */
  | 'missing'
  /** It is there but is not what the compiler wrote. */
  | 'damaged'
  /** Another version of the compiler wrote it. */
  | 'format'

export class ArtifactFailure extends Error {
  readonly kind: ArtifactFailureKind

  constructor(kind: ArtifactFailureKind, message: string) {
    super(message)
    this.name = 'ArtifactFailure'
    this.kind = kind
  }
}

export const damaged = (what: string): ArtifactFailure => new ArtifactFailure('damaged', `${what} Compile again.`)

/** What is read of artifacts, or null where they cannot be used. */
export function orNull<T>(read: () => T): T | null {
  try {
    return read()
  } catch (error) {
    if (error instanceof ArtifactFailure) return null
    throw error
  }
}
