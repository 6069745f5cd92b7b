import type { JsonObject } from '../../lib/json.ts'

/** `app_metadata.provider` and `providers`: the sign-in methods of a user; the first is the original one. */
export interface Providers {
  readonly provider: string
  readonly providers: readonly string[]
}

const providerNames = (metadata: JsonObject | null): readonly string[] => {
  const names = metadata?.['providers']
  return Array.isArray(names) ? names.filter((name) => typeof name === 'string') : []
}

/** Those of the metadata and one more. */
export function addProvider(metadata: JsonObject | null, name: string): Providers {
  const names = providerNames(metadata)
  return onlyProviders(metadata, names.includes(name) ? names : [...names, name])
}

/** These and no others, at least one. */
export function onlyProviders(metadata: JsonObject | null, providers: readonly string[]): Providers {
  const first = metadata?.['provider']
  const provider = typeof first === 'string' && providers.includes(first) ? first : (providers[0] ?? '')
  return { provider, providers }
}
