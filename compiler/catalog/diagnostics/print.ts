import type { Diagnostic } from '../../../runtime/contract/manifest.ts'

const weight: Readonly<Record<Diagnostic['severity'], number>> = { error: 0, warning: 1, info: 2 }

const oneLine = (text: string): string => text.replaceAll(/\s+/gu, ' ')

/** One line: `warning: column public.posts."2nd": what is the case [code] -> what to do`. */
export const printDiagnostic = (diagnostic: Diagnostic): string =>
  oneLine(
    `${diagnostic.severity}: ${diagnostic.object}: ${diagnostic.message} [${diagnostic.code}] -> ${diagnostic.fix}`,
  )

/** One diagnostic per line, the most severe first, otherwise in the order of detection; '' without any. */
export const printDiagnostics = (diagnostics: readonly Diagnostic[]): string =>
  [...diagnostics]
    .sort((a, b) => weight[a.severity] - weight[b.severity])
    .map((diagnostic) => `${printDiagnostic(diagnostic)}\n`)
    .join('')
