import { copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'

// Bundles page/ into dist/runtime/console/built/, which register.ts serves. Run by `npm run build`.

const page = new URL('./page/', import.meta.url)
const built = new URL('../../dist/runtime/console/built/', import.meta.url)
const require = createRequire(import.meta.url)

/** GraphiQL's packages contain directives for the React compiler, which has already processed them. */
const harmless = new Set(['MODULE_LEVEL_DIRECTIVE'])

await rm(built, { recursive: true, force: true })
await mkdir(built, { recursive: true })
await bundleScripts()
for (const name of ['index.html', 'mail.html', 'styles.css']) await copyFile(new URL(name, page), new URL(name, built))
await writeFile(new URL('graphiql.css', built), await graphiqlStyles())

/** Modules that only GraphiQL needs, except React's own part, are in a separate file that is loaded on first use. */
async function bundleScripts() {
  const bundle = await rolldown({
    input: { main: fileURLToPath(new URL('main.tsx', page)) },
    platform: 'browser',
    transform: { define: { 'process.env.NODE_ENV': '"production"' }, jsx: { runtime: 'automatic' } },
    onLog: (level, log) => {
      if (level !== 'warn' || harmless.has(log.code)) return
      throw new Error(`the dashboard cannot be bundled: ${log.message}`)
    },
  })
  const names = { entryFileNames: '[name].js', chunkFileNames: '[name].js' }
  await bundle.write({ dir: fileURLToPath(built), format: 'es', minify: true, ...names })
  await bundle.close()
}

/** GraphiQL's styles without their embedded fonts: the page uses those of the system. */
async function graphiqlStyles() {
  const styles = await readFile(require.resolve('graphiql/style.css'), 'utf8')
  return styles.replace(/@font-face\s*\{[^}]*\}/g, '')
}
