import { withSession } from '../../runtime/db/connect/session.ts'
import { demandSchemas } from '../following/serving/followed-source.ts'
import { annotateDatabase, type Annotation } from './advise/annotate/annotate.ts'
import { printComment } from './advise/annotate/comments.ts'
import { printDiagnostics } from '../catalog/diagnostics/diagnostics.ts'
import { exitCodes, type Command, type GivenOptions, type Terminal } from './command.ts'
import { writeOut } from './given-documents.ts'
import { neededSettingsOf, ownerUrl } from './needed-settings.ts'

export const annotateCommand: Command = {
  name: 'annotate',
  summary: 'Write the COMMENT statements without which fields are lost.',
  description:
    'Prints SQL for review, and changes nothing: names for relations and columns that collide, derived from the columns\n' +
    'of foreign keys; names for objects and labels of enums that are not GraphQL names; and keys of views and of tables\n' +
    'without a primary key, if columns identify the present rows; the SQL notes where no constraint ensures this. A served\n' +
    'field keeps its meaning: the colliding object gets the new name. Existing settings stay; after the SQL was executed,\n' +
    'the command prints nothing.',
  options: {
    out: { value: 'FILE', help: 'Write the SQL to this file instead.' },
    words: { value: null, help: 'Also name types in the singular, and fields that lead to many rows in the plural.' },
  },
  run: async ({ out, words }, terminal) => {
    const settings = neededSettingsOf(terminal)
    const { schemas } = settings
    terminal.stage('Compiling the database with the comments that it wants')
    const annotation = await withSession({ url: await ownerUrl(settings) }, async (query) => {
      await demandSchemas(query, schemas)
      return annotateDatabase(query, schemas, words === true)
    })
    await write(annotation, out, terminal)
    noteAnnotation(annotation, terminal)
    return exitCodes.done
  },
}

/** The requested file is created, even if it is empty. */
async function write({ comments }: Annotation, out: GivenOptions[string], terminal: Terminal): Promise<void> {
  const text = ['begin;', ...comments.map(printComment), 'commit;'].join('\n')
  if (typeof out === 'string') await writeOut(out, comments.length === 0 ? '-- No comment is missing.\n' : `${text}\n`)
  else if (comments.length > 0) terminal.print(text)
}

function noteAnnotation({ comments, before, after }: Annotation, terminal: Terminal): void {
  terminal.note(
    comments.length === 0
      ? 'catalograph: no comment is missing'
      : `catalograph: ${comments.length} comments; ${before.length} names are lost without them, and ${after.length} with them`,
  )
  const left = printDiagnostics(after).trimEnd()
  if (left !== '') terminal.note(left)
}
