/** Paths that clients of Supabase ask for beside auth and GraphQL, and what is there instead: TABLE. */
const instead: Readonly<Record<string, string>> = {
  '/rest/v1': 'There is no REST API (.from, .rpc): send GraphQL to /graphql/v1, or run PostgREST beside this service',
  '/storage/v1': 'There is no storage of files: keep them in an object store, and their addresses in a table',
  '/functions/v1': 'There are no edge functions: functions of the database are fields of /graphql/v1',
  '/realtime/v1': 'There are no channels: subscriptions of /graphql/v1 watch queries',
}

/** The sentence for an address that a service of Supabase has; undefined for others. */
export function inPlaceOf(url: string): string | undefined {
  const [, prefix = ''] = /^(\/\w+\/v1)(?:[/?]|$)/.exec(url) ?? []
  return Object.hasOwn(instead, prefix) ? `${instead[prefix]} (docs/questions.md).` : undefined
}
