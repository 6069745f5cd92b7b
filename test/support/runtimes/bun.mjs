import { readArtifacts } from 'catalograph/artifacts'
import { createApp } from './app.mjs'

const { port, folder, ...settings } = JSON.parse(process.env.APP)
Bun.serve({ port, hostname: '127.0.0.1', fetch: createApp(readArtifacts(folder), settings, true) })
