import { getAccess, getPolicies } from './access.ts'
import { ownerRoute, type OwnerRoute } from './call.ts'
import * as io from './io.ts'
import { getLive } from './live-streams.ts'
import { getOverview } from './overview.ts'
import { getMails, getProject, getReport, getSchema, postToken, prepareProject } from './project.ts'
import { getDocument, getRequests } from './requests.ts'
import { getSettings, patchSettings } from './settings.ts'
import { deleteTemplate, getTemplates, patchTemplate } from './templates.ts'

/** Every endpoint below /admin/v1, for the owner's tools with the service_role key. */
export const ownerRoutes: readonly OwnerRoute[] = [
  ownerRoute({ at: 'GET /project', io: io.getProject, handle: getProject }),
  ownerRoute({ at: 'GET /overview', io: io.getOverview, handle: getOverview }),
  ownerRoute({ at: 'POST /prepare', io: io.prepareProject, handle: prepareProject }),
  ownerRoute({ at: 'GET /schema', io: io.getSchema, handle: getSchema }),
  ownerRoute({ at: 'GET /report', io: io.getReport, handle: getReport }),
  ownerRoute({ at: 'GET /settings', io: io.getSettings, handle: getSettings }),
  ownerRoute({ at: 'PATCH /settings', io: io.patchSettings, handle: patchSettings }),
  ownerRoute({ at: 'GET /templates', io: io.getTemplates, handle: getTemplates }),
  ownerRoute({ at: 'PATCH /templates/:kind', io: io.patchTemplate, handle: patchTemplate }),
  ownerRoute({ at: 'DELETE /templates/:kind', io: io.deleteTemplate, handle: deleteTemplate }),
  ownerRoute({ at: 'GET /mails', io: io.getMails, handle: getMails }),
  ownerRoute({ at: 'GET /requests', io: io.getRequests, handle: getRequests }),
  ownerRoute({ at: 'GET /live', io: io.getLive, handle: getLive }),
  ownerRoute({ at: 'GET /documents/:hash', io: io.getDocument, handle: getDocument }),
  ownerRoute({ at: 'GET /policies', io: io.getPolicies, handle: getPolicies }),
  ownerRoute({ at: 'GET /access', io: io.getAccess, handle: getAccess }),
  ownerRoute({ at: 'POST /tokens', io: io.postToken, handle: postToken }),
]
