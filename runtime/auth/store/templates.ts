import { statement, type RunStatement } from '../../db/pool/statements.ts'

/** catalograph_auth.templates: what the owner has written in place of the defaults. */

export interface StoredTemplate {
  readonly kind: string
  readonly subject: string
  readonly html: string
}

const list = statement<StoredTemplate>(
  'auth.templates.list',
  'select kind, subject, html from catalograph_auth.templates order by kind',
)

const byKind = statement<StoredTemplate>(
  'auth.templates.by-kind',
  'select kind, subject, html from catalograph_auth.templates where kind = $1',
)

const put = statement<object>(
  'auth.templates.put',
  `insert into catalograph_auth.templates (kind, subject, html) values ($1, $2, $3)
  on conflict (kind) do update set subject = excluded.subject, html = excluded.html, updated_at = now()`,
)

const remove = statement<object>('auth.templates.remove', 'delete from catalograph_auth.templates where kind = $1')

export const storedTemplates = async (run: RunStatement): Promise<ReadonlyMap<string, StoredTemplate>> =>
  new Map((await run(list)).map((one) => [one.kind, one]))

export const storedTemplate = async (run: RunStatement, kind: string): Promise<StoredTemplate | null> =>
  (await run(byKind, [kind]))[0] ?? null

export const putTemplate = async (
  run: RunStatement,
  kind: string,
  { subject, html }: Omit<StoredTemplate, 'kind'>,
): Promise<void> => void (await run(put, [kind, subject, html]))

export const deleteTemplateRow = async (run: RunStatement, kind: string): Promise<void> =>
  void (await run(remove, [kind]))
