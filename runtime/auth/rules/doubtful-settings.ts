import { isLoopback, isWeb } from '../protocol/address.ts'
import type { AuthSettings } from '../settings/setting-keys.ts'
import { expand } from './glob.ts'
import { judgeRedirect } from './redirect.ts'

/** Settings that work, and that few owners mean as they are written (spec/auth.md 1). */

type DoubtfulName = 'external_url' | 'site_url' | 'redirect_allow_list'

/** Null where none is stored. */
type Doubtful = { readonly [N in DoubtfulName]: AuthSettings[N] | null }

export interface SettingWarning {
  readonly name: DoubtfulName
  /** Behind the name. */
  readonly warning: string
}

export function settingWarnings(settings: Doubtful): readonly SettingWarning[] {
  return [...plainWarnings(settings), ...listWarnings(settings.redirect_allow_list ?? [])]
}

function plainWarnings(settings: Doubtful): readonly SettingWarning[] {
  const names = ['external_url', 'site_url'] as const
  return names
    .filter((name) => isPlain(settings[name]))
    .map((name) => ({ name, warning: 'is not encrypted, and sign-ins pass there: serve it by https' }))
}

const isPlain = (address: string | null): boolean =>
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

/** Endings below which anybody may register a name, and one that nobody may (RFC 2606). */
const openEndings = ['example', 'com', 'net', 'org', 'io', 'app', 'dev']

const strangers: readonly string[] = openEndings.map((ending) => `stranger.${ending}`)

const plainStrangers: readonly string[] = ['https', 'http'].flatMap((scheme) =>
  ['stranger', ...strangers, 'a.b.stranger.example'].flatMap((host) =>
    ['', '/', '/x', '/x/y.html?z=1', ':3000', ':3000/x'].map((rest) => `${scheme}://${host}${rest}`),
  ),
)

/** An address that an entry allows although somebody else has it: the glob itself is asked. */
function strangerOf(entry: string): string | undefined {
  const settings = { site_url: 'https://site.invalid', redirect_allow_list: [entry] }
  return candidates(entry).find((address) => isStrange(address) && judgeRedirect(address, settings).kind === 'allowed')
}

/** Addresses of strangers, and what the entry itself becomes where a stranger fills in its stars. */
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

/** Of a scheme that nobody has, or of a host whose last label is filled in, or its last two, or its end. */
function isStrange(address: string): boolean {
  if (!URL.canParse(address)) return false
  const parsed = new URL(address)
  if (!isWeb(parsed)) return parsed.protocol === 'stranger:'
  return /stranger$/.test(parsed.hostname) || strangers.some((stranger) => parsed.hostname.endsWith(stranger))
}
