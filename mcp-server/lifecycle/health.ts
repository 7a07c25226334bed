/** Health and readiness on the server's own port, and metrics where callers need no credential. */
import type { Hono } from 'hono';
import type { Engine } from '../../engine/index.js';
import type { Settings } from '../../platform/settings/index.js';
import { ALIVE } from '../../platform/health/checks.js';
import { metricsPage, METRICS_CONTENT_TYPE } from '../../platform/metrics/index.js';
import type { ServerReadiness } from './readiness.js';

const ALLOW = { Allow: 'GET, HEAD' };

export interface HealthOptions {
  engine: Engine;
  settings: Settings;
  /** Whether callers need no credential. Then readiness names the tools, and metrics are served. */
  isOpen: boolean;
  readiness: ServerReadiness;
}

/** Registers `/healthz`, `/readyz` and `/metrics`. They also work while the server stops, since probes ask then too. */
export function registerHealth(app: Hono, { engine, settings, isOpen, readiness }: HealthOptions): void {
  app.get('/healthz', (c) => c.json(ALIVE));
  app.get('/readyz', async (c) => {
    const body = await readiness.read();
    if (body.status !== 'ready') return c.json(body, 503);
    return c.json({ ...body, ...(isOpen ? { tools: engine.tools.keys() } : {}) });
  });
  const hasMetrics = settings.metrics && isOpen;
  if (hasMetrics)
    app.get('/metrics', async (c) =>
      c.text((await metricsPage()) ?? '', 200, { 'Content-Type': METRICS_CONTENT_TYPE }),
    );
  for (const path of ['/healthz', '/readyz', ...(hasMetrics ? ['/metrics'] : [])]) {
    app.options(path, (c) => c.body(null, 204, ALLOW));
    app.all(path, (c) => c.json({ error: `${c.req.method}: expected GET` }, 405, ALLOW));
  }
}
