const list = /^(\w+:\/\/(?:[^/?#]*@)?)([^/?#]*)(.*)$/s

/**
 * A connection URL may list several hosts, each with its own port (PostgreSQL manual, chapter libpq, Connection URIs),
 * which no other URL may: returns the URL for each of them, in order.
 */
export function hostUrls(url: string): readonly string[] {
  const [, before = '', hosts = '', after = ''] = list.exec(url) ?? []
  return before === '' ? [url] : hosts.split(',').map((host) => `${before}${host}${after}`)
}
