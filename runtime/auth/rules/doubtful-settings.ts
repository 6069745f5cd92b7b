import { isLoopback, isWeb } from '../protocol/input.ts'
import type { AuthSettings } from '../settings/setting-keys.ts'
import { expand, judgeRedirect } from './redirect.ts'

/** Settings that work, but that few owners intend as written (spec/auth.md 1). */

type DoubtfulName = 'external_url' | 'site_url' | 'redirect_allow_list'

/** Null if none is stored. */
type Doubtful = { readonly [N in DoubtfulName]: AuthSettings[N] | null }

export interface SettingWarning {
  readonly name: DoubtfulName
  /** Printed after the name. */
  readonly warning: string
}

export function settingWarnings(settings: Doubtful): readonly SettingWarning[] {
  return [...plainWarnings(settings), ...listWarnings(settings.redirect_allow_list ?? [])]
}

function plainWarnings(settings: Doubtful): readonly SettingWarning[] {
  const names = ['external_url', 'site_url'] as const
  return names
    .filter((name) => isPlainHttp(settings[name]))
    .map((name) => ({ name, warning: 'is not encrypted, and sign-ins pass there: serve it by https' }))
}

const isPlainHttp = (address: string | null): boolean =>
  address !== null && address.startsWith('http:') && !isLoopback(new URL(address).hostname)

function listWarnings(list: readonly string[]): readonly SettingWarning[] {
  return list.flatMap((entry) => {
    const stranger = strangerOf(entry)
    return stranger === undefined
      ? []
      : [
          {
            name: 'redirect_allow_list',
            warning: `lets anybody receive sign-ins: ${entry} allows ${stranger}`,
          } as const,
        ]
  })
}

/** Suffixes open for registration, and one that cannot be registered (RFC 2606). */
const openEndings = ['example', 'com', 'net', 'org', 'io', 'app', 'dev']

const strangers: readonly string[] = openEndings.map((ending) => `stranger.${ending}`)

const plainStrangers: readonly string[] = ['https', 'http'].flatMap((scheme) =>
  ['stranger', ...strangers, 'a.b.stranger.example'].flatMap((host) =>
    ['', '/', '/x', '/x/y.html?z=1', ':3000', ':3000/x'].map((rest) => `${scheme}://${host}${rest}`),
  ),
)

function strangerOf(entry: string): string | undefined {
  const settings = { site_url: 'https://site.invalid', redirect_allow_list: [entry] }
  return candidates(entry).find((address) => isStrange(address) && judgeRedirect(address, settings).kind === 'allowed')
}

/** Addresses of strangers, and the entry itself with a stranger's names for its stars. */
function candidates(entry: string): readonly string[] {
  const filled = (expand(entry) ?? []).flatMap((one) => {
    const single = one.replace(
      /\?|\[(!?)(.)[^\]]*\]/g,
      (_, not?: string, first?: string) => (not === '' && first) || 's',
    )
    return ['stranger.example/x', 'stranger.example'].map((any) =>
      single.replaceAll('**', any).replaceAll('*', 'stranger'),
    )
  })
  return [...plainStrangers, 'stranger://home', 'stranger:home', ...filled]
}

/** Has an unknown scheme, or a host whose last label, last two labels or suffix are free. */
function isStrange(address: string): boolean {
  if (!URL.canParse(address)) return false
  const parsed = new URL(address)
  if (!isWeb(parsed)) return parsed.protocol === 'stranger:'
  return /stranger$/.test(parsed.hostname) || strangers.some((stranger) => parsed.hostname.endsWith(stranger))
}
