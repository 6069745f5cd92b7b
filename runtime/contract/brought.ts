/** Why an object is not in the API, and the owner's remedy. */
export interface Missing {
  readonly reason: string
  readonly message: string
  readonly fix: string
}

/** Why an object of an extension is not in the API. Its owner has nothing to correct. */
export const broughtByExtension: Missing = {
  reason: 'not served',
  message: 'An extension brought it.',
  fix: 'Where it is meant for callers, wrap it in a view or function of your own.',
}
