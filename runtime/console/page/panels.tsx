import { lazy, Suspense, type ComponentType } from 'react'
import { AuditPanel } from './panels/audit.tsx'
import { AuthPanel } from './panels/auth.tsx'
import { ConnectPanel } from './panels/connect.tsx'
import { HomePanel } from './panels/home.tsx'
import { LivePanel } from './panels/live.tsx'
import { OutboxPanel } from './panels/outbox.tsx'
import { PicturePanel } from './panels/picture.tsx'
import { PoliciesPanel } from './panels/policies.tsx'
import { ReportPanel } from './panels/report.tsx'
import { RequestsPanel } from './panels/requests.tsx'
import { TemplatesPanel } from './panels/templates.tsx'
import { UsersPanel } from './panels/users.tsx'

export interface Panel {
  /** The fragment of the address. */
  readonly name: string
  readonly title: string
  readonly Show: ComponentType
}

/** GraphiQL is larger than the rest of the page: it is loaded on demand. */
const GraphiqlPanel = lazy(async () => ({ default: (await import('./graphiql/panel.tsx')).GraphiqlPanel }))

const home: Panel = { name: 'home', title: 'Home', Show: HomePanel }

/** Every panel in the order of the navigation. To add one, add a row. */
export const panels: readonly Panel[] = [
  home,
  { name: 'auth', title: 'Auth', Show: AuthPanel },
  { name: 'connect', title: 'Connect', Show: ConnectPanel },
  { name: 'users', title: 'Users', Show: UsersPanel },
  { name: 'audit', title: 'Audit log', Show: AuditPanel },
  { name: 'templates', title: 'Mail templates', Show: TemplatesPanel },
  { name: 'outbox', title: 'Outbox', Show: OutboxPanel },
  { name: 'policies', title: 'Policies', Show: PoliciesPanel },
  { name: 'requests', title: 'Requests', Show: RequestsPanel },
  { name: 'live', title: 'Live queries', Show: LivePanel },
  { name: 'report', title: 'Schema report', Show: ReportPanel },
  { name: 'picture', title: 'Schema diagram', Show: PicturePanel },
  { name: 'graphiql', title: 'GraphiQL', Show: ShowGraphiql },
]

export const panelOf = (name: string): Panel => panels.find((panel) => panel.name === name) ?? home

function ShowGraphiql() {
  return (
    <Suspense fallback={<p role="status">Loading …</p>}>
      <GraphiqlPanel />
    </Suspense>
  )
}
