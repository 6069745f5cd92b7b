import type { Health, HealthChecks } from '../../runtime/http/health.ts'

const health: Health = { status: 'ok', revision: null, compileFailedAt: null, fault: null }

/** Of an application whose health is not what is tested. */
export const healthy: HealthChecks = { alive: () => health, ready: async () => health }
