import process from 'node:process'
import { readArtifacts } from 'catalograph/artifacts'
import { createApp } from './app.mjs'

const { port, folder, ...settings } = JSON.parse(process.env.APP)
Deno.serve({ port, hostname: '127.0.0.1', onListen: () => undefined }, createApp(readArtifacts(folder), settings, true))
