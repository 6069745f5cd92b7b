import { GraphiQL } from 'graphiql'
import { buildClientSchema, getOperationAST, parse, type IntrospectionQuery } from 'graphql'
import { useEffect, useMemo, useRef, useState, type ComponentProps } from 'react'
import { schemaPath, type GraphqlAnswer, type GraphqlParams } from '../api.ts'
import { useAdminAnswer, useBearers, usePageContext } from '../context.tsx'
import { Answer, SwitchField } from '../parts/controls.tsx'
import { WhomPicker } from '../parts/whom-picker.tsx'
import { roleOf, type Whom } from '../whom.ts'
import { firstQuery } from './first-query.ts'
import { useEditorNames } from './names.ts'
import type { Explained } from './plan.ts'
import { Plans } from './plans.tsx'

/** GraphiQL as the chosen role or user, with the plans of the last request on demand. */
export function GraphiqlPanel() {
  const { whom } = usePageContext()
  const opened = useOpened()
  const [asked, reload] = useAdminAnswer<IntrospectionQuery>(schemaPath(roleOf(whom)))
  const [explains, setExplains] = useState(opened !== null)
  const [plans, setPlans] = useState<Explaining>(null)
  const fetcher = useFetcher(whom, explains, setPlans)
  return (
    <>
      <link rel="stylesheet" href="dashboard/graphiql.css" precedence="low" />
      <div className="toolbar">
        <WhomPicker />
        <SwitchField label="Explain" help="Plans, beside the result" on={explains} change={setExplains} />
        <button type="button" onClick={reload}>
          Read the schema again
        </button>
      </div>
      <Answer asked={asked}>
        {(introspection) => (
          <div className={explains ? 'console explaining' : 'console'}>
            <Console introspection={introspection} fetcher={fetcher} opened={opened} />
            {explains && <ExplainPane plans={plans} />}
          </div>
        )}
      </Answer>
    </>
  )
}

/** The document that another panel opened, once. */
function useOpened(): string | null {
  const { opened, openDocument } = usePageContext()
  const [first] = useState(opened)
  useEffect(() => openDocument(null), [openDocument])
  return first
}

interface ConsoleProps {
  readonly introspection: IntrospectionQuery
  readonly fetcher: Fetcher
  /** The document to show; null: the previous one. */
  readonly opened: string | null
}

/** The schema comes from the owner's endpoint: the API itself need not answer introspection. */
function Console({ introspection, fetcher, opened }: ConsoleProps) {
  const schema = useMemo(() => buildClientSchema(introspection, { assumeValid: true }), [introspection])
  const root = useRef<HTMLDivElement>(null)
  useEditorNames(root)
  return (
    <div ref={root}>
      {/* Its types want errors as objects of graphql-js; answers are JSON. */}
      <GraphiQL
        fetcher={fetcher as ComponentProps<typeof GraphiQL>['fetcher']}
        schema={schema}
        defaultQuery={firstQuery(schema)}
        {...(opened !== null && { query: opened })}
        isHeadersEditorEnabled={false}
        showPersistHeadersSettings={false}
      >
        <GraphiQL.Logo> </GraphiQL.Logo>
      </GraphiQL>
    </div>
  )
}

/** Null: no document ran. */
type Explaining = readonly Explained[] | null

function ExplainPane({ plans }: { readonly plans: Explaining }) {
  return (
    <section className="explain" aria-label="Plans" tabIndex={0}>
      <h2>Plans</h2>
      {plans === null ? <p>Run a query.</p> : <Plans plans={plans} />}
    </section>
  )
}

type Fetcher = (params: GraphqlParams) => Promise<GraphqlAnswer | AsyncIterableIterator<GraphqlAnswer>>

/** False for an invalid document: the service answers the reason. */
function subscribes({ query, operationName }: GraphqlParams): boolean {
  try {
    return getOperationAST(parse(query), operationName)?.operation === 'subscription'
  } catch {
    return false
  }
}

/** A subscription gets its answers one by one, without plans. Plans are removed from an answer, so that it looks as for an application. */
function useFetcher(whom: Whom, explains: boolean, show: (plans: Explaining) => void): Fetcher {
  const { api } = usePageContext()
  const bearerOf = useBearers()
  return useMemo(
    () =>
      async ({ query, variables, operationName }) => {
        const bearer = await bearerOf(whom)
        if (bearer.kind === 'refused') return { errors: [{ message: bearer.refusal.message }] }
        const params = { query, variables, operationName }
        if (subscribes(params)) return api.stream(params, bearer.value)
        if (!explains) return api.graphql(params, bearer.value)
        const answer = await api.explain(params, bearer.value)
        const { explain, ...others } = answer.extensions ?? {}
        // A refused document has no plans.
        show((explain as Explaining | undefined) ?? null)
        const { extensions: _taken, ...plain } = answer
        return Object.keys(others).length === 0 ? plain : { ...plain, extensions: others }
      },
    [api, bearerOf, whom, explains, show],
  )
}
