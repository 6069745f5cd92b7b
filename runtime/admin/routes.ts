import type { OwnerRoute } from './call.ts'
import * as io from './io.ts'
import { getMails, getProject, getSchema, postToken, prepareProject } from './project.ts'
import { getSettings, patchSettings } from './settings.ts'
import { deleteTemplate, getTemplates, patchTemplate } from './templates.ts'

/** Every endpoint below /admin/v1: what the owner's tools call, with the service_role key. */
export const ownerRoutes: readonly OwnerRoute[] = [
  { at: 'GET /project', io: io.getProject, handle: getProject },
  { at: 'POST /prepare', io: io.prepareProject, handle: prepareProject },
  { at: 'GET /schema', io: io.getSchema, handle: getSchema },
  { at: 'GET /settings', io: io.getSettings, handle: getSettings },
  { at: 'PATCH /settings', io: io.patchSettings, handle: patchSettings },
  { at: 'GET /templates', io: io.getTemplates, handle: getTemplates },
  { at: 'PATCH /templates/:kind', io: io.patchTemplate, handle: patchTemplate },
  { at: 'DELETE /templates/:kind', io: io.deleteTemplate, handle: deleteTemplate },
  { at: 'GET /mails', io: io.getMails, handle: getMails },
  { at: 'POST /tokens', io: io.postToken, handle: postToken },
]
