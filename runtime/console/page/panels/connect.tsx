import { usePageContext } from '../context.tsx'
import { Snippet } from '../parts/snippet.tsx'

/**
 * The values that an application needs to reach the project, without the service_role key, which belongs on servers.
 */
export function ConnectPanel() {
  const { project } = usePageContext()
  const { url, anon_key: key } = project
  const query = JSON.stringify({ query: '{ __typename }' })
  const curl = `curl -s ${url}/graphql/v1 -H 'content-type: application/json' -H 'apikey: ${key}' -d '${query}'`
  const program = `import { createClient } from '@catalograph/client'\n\nconst client = createClient('${url}', '${key}')\nconst { data, error } = await client.graphql('{ __typename }')`
  const theirs = `import { createClient } from '@supabase/supabase-js'\n\nconst supabase = createClient('${url}', '${key}')`
  const codegen = `npx catalograph codegen --from ${url} --role authenticated --key "$SERVICE_ROLE_KEY" --out src/db`
  return (
    <>
      <Snippet title="Address" text={url} />
      <Snippet title="anon key" text={key} />
      <Snippet title="curl" text={curl} />
      <Snippet title="@catalograph/client" text={program} />
      <Snippet title="supabase-js (auth)" text={theirs} />
      <Snippet title="Typed client" text={codegen}>
        SERVICE_ROLE_KEY in the environment is the key that opens this page; keep it out of what you commit.
      </Snippet>
    </>
  )
}
