import type { Missing } from './manifest.ts'

/** Why something that an extension brought is not in the API. Nothing is to be mended. */
export const broughtByExtension: Missing = {
  reason: 'not served',
  message: 'An extension brought it.',
  fix: 'Where it is meant for callers, wrap it in a view or function of your own.',
}
