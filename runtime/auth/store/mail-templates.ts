import { statement, type RunStatement } from '../../db/pool/statements.ts'
import { defineAction, defineLookup } from './define.ts'

/** catalograph_auth.templates: the owner's replacements of the defaults. */

export interface StoredTemplate {
  readonly kind: string
  readonly subject: string
  readonly html: string
}

const list = statement<StoredTemplate>(
  'auth.templates.list',
  'select kind, subject, html from catalograph_auth.templates order by kind',
)

export const storedTemplates = async (run: RunStatement): Promise<ReadonlyMap<string, StoredTemplate>> =>
  new Map((await run(list)).map((one) => [one.kind, one]))

export const storedTemplate = defineLookup<StoredTemplate, [kind: string]>(
  'auth.templates.by-kind',
  'select kind, subject, html from catalograph_auth.templates where kind = $1',
)

export const putTemplate = defineAction<[kind: string, texts: Omit<StoredTemplate, 'kind'>]>(
  'auth.templates.put',
  `insert into catalograph_auth.templates (kind, subject, html) values ($1, $2, $3)
  on conflict (kind) do update set subject = excluded.subject, html = excluded.html, updated_at = now()`,
  (kind, { subject, html }) => [kind, subject, html],
)

/** The default applies again. */
export const resetTemplate = defineAction<[kind: string]>(
  'auth.templates.remove',
  'delete from catalograph_auth.templates where kind = $1',
)
