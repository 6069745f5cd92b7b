import { hostUrls } from '../../runtime/lib/host-urls.ts'
import { createLogger } from '../../runtime/settings/log/logger.ts'
import type { Log } from '../../runtime/settings/log/events.ts'
import type { Settings } from '../../runtime/settings/keys.ts'
import type { Terminal } from './command.ts'

/**
 * The log of a serving process: standard error, without the secrets of the settings.
 * @param worker its number among several
 */
export function logOf(settings: Settings, terminal: Terminal, worker?: number): Log {
  const { jwtSecret, jwtSecretPrevious, databaseUrl, databaseOwnerUrl, databaseAuthUrl, replicaUrls } = settings
  const urls = [databaseUrl, databaseOwnerUrl, databaseAuthUrl, ...(replicaUrls ?? [])]
  return createLogger({
    level: settings.logLevel,
    human: terminal.human,
    ...(worker !== undefined && { worker }),
    secrets: [jwtSecret, jwtSecretPrevious, ...urls.flatMap(secretsOfUrl)].filter((secret) => secret !== null),
    write: (line) => terminal.note(line.trimEnd()),
    now: () => new Date(),
  })
}

/** Replacing a short password would hide unrelated words; the whole URL is never printed in any case. */
const shortestConcealed = 6

function secretsOfUrl(url: string | null): readonly string[] {
  if (url === null) return []
  const { password } = new URL(hostUrls(url)[0] ?? url)
  return [url, password, decodeURIComponent(password)].filter((secret) => secret.length >= shortestConcealed)
}
