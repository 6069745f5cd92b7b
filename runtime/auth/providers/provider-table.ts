import { google } from './google.ts'
import type { ProviderRow } from './provider.ts'

/** The providers (spec/auth.md 6). To add one, add a row and its three settings. */
export const providers = { google } as const satisfies Readonly<Record<string, ProviderRow>>

export type ProviderName = keyof typeof providers

export const providerNames = Object.keys(providers) as readonly ProviderName[]

export function isProviderName(name: string): name is ProviderName {
  return Object.hasOwn(providers, name)
}
