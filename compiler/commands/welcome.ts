import type { ProjectKeys } from '../../runtime/identity/project-keys.ts'

export interface Welcome {
  readonly url: string
  readonly keys: ProjectKeys
  /** Of the local database, which only this machine reaches. */
  readonly adminUrl: string
}

const firstQuery = '{ postCollection(first: 3, orderBy: [{id: DescNullsLast}]) { edges { node { id title } } } }'

/** The text once the embedded set-up serves: its address, its keys, and a working command line. */
export function renderWelcome({ url, keys, adminUrl }: Welcome): string {
  return [
    '',
    `GraphQL       ${url}/graphql/v1`,
    `Auth          ${url}/auth/v1`,
    `Dashboard     ${url}/dashboard`,
    `Postgres      ${adminUrl}`,
    `anon          ${keys.anon}`,
    `service_role  ${keys.serviceRole}`,
    '',
    'Try:',
    `curl -s ${url}/graphql/v1 -H 'content-type: application/json' -H 'apikey: ${keys.anon}' \\`,
    `  -d '${JSON.stringify({ query: firstQuery })}'`,
    '',
    'Ctrl-C stops it.',
  ].join('\n')
}
