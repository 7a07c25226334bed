/** The server process: serves the tools to MCP clients over HTTP or stdio. Any number of processes can run. */
import { once } from 'node:events';
import { Engine, TemporalClient } from '../engine/index.js';
import { every } from '../platform/every.js';
import { SettingsError, type Settings } from '../platform/settings/index.js';
import { dataFoldersOf } from '../platform/settings/private-paths.js';
import { assertServable } from '../platform/settings/conflicts.js';
import type { Logger } from '../platform/observe/log.js';
import { loadSecret } from '../platform/home/secret.js';
import { prepareMetrics, startProcessHealth } from '../platform/observe/health/process-health.js';
import { areMetricsOn } from '../platform/observe/metrics/index.js';
import { openMeasuredStorage } from '../platform/observe/metrics/storage.js';
import { Signer } from '../platform/temporal/signer.js';
import { startTracing } from '../platform/observe/tracing/index.js';
import { loadPayloadCodec } from '../platform/temporal/payload-codec.js';
import { createTools } from '../platform/project/tools.js';
import { Audit, STDIO } from './audit/index.js';
import { Authentication } from './auth/index.js';
import { Guard, policyOf } from './guard.js';
import { createHttpApp } from './http.js';
import { serveStdioProtocols } from './stdio.js';
import { answerParseErrors } from './http-jobs/rendering/problems.js';
import { createListener } from './http/listener.js';
import { ServerReadiness } from './http/readiness.js';
import { Limits } from './limits/index.js';
import { reservedNames, switchedOn, type Mount, type Mounted } from './mount.js';

/** How long requests in flight may take to end when the server stops, in milliseconds. */
const DRAIN_MS = 5_000;

/** Interval of the sweep for overdue operations, in milliseconds. Each sweep costs one visibility call of the namespace. */
const OVERDUE_SWEEP_MS = 300_000;

const IDLE_SWEEP_MS = 50;

export interface RunningServer {
  /** The MCP endpoint. */
  url: string;
  /** Refuses new requests, answers open ones and ends streams. Resolves once everything is closed. */
  stop(): Promise<void>;
}

/**
 * Starts the HTTP server. It also runs, and says so, while Temporal is down.
 *
 * @param mounts features beside operations; the settings switch them on
 * @throws SettingsError when the port is in use, a tool's file can't be loaded, the settings would let anybody in, or the files of
 *   TLS can't be used
 */
export async function startServer(
  settings: Settings,
  logger: Logger,
  mounts: readonly Mount[],
): Promise<RunningServer> {
  assertServable(settings);
  const endTracing = await startTracing('server', logger);
  await prepareMetrics(settings, 'server');
  const { engine, mounted } = await createEngine(settings, logger, mounts);
  const { keyId } = new Signer(loadSecret(settings.home));
  const { storage } = engine.temporal;
  const readiness = new ServerReadiness(engine, { home: settings.home, storage, keyId });
  const audit = Audit.open(settings, logger);
  const { app, drain, close } = createHttpApp(engine, settings, logger, readiness, { audit, mounted });
  const { server, protocol, endWatch } = createListener(app, settings, logger);
  answerParseErrors(server);
  let endHealth: () => Promise<void> = () => Promise.resolve();
  const release = async () => {
    endWatch();
    await audit?.close();
    await endHealth();
    await engine.temporal.close();
    await endTracing();
  };
  try {
    endHealth = await startProcessHealth(settings, () => readiness.read(), logger);
    server.listen(settings.port, settings.host);
    await once(server, 'listening');
  } catch (error) {
    await release();
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    throw new SettingsError(
      `port ${settings.port} of ${settings.host} is in use; choose another with LONGHAUL_PORT or --port`,
    );
  }
  const host = settings.host.includes(':') ? `[${settings.host}]` : settings.host;
  const url = `${protocol}://${host}:${settings.port}/mcp`;
  logger.info({ url, tools: engine.tools.keys() }, 'server runs');
  const endSweeps = every(OVERDUE_SWEEP_MS, logger, async () => {
    await engine.temporal.whenConnected;
    const count = await engine.sweepOverdue();
    if (count) logger.info({ count }, 'ended operations whose time was up and that no worker had ended');
  });
  const endGauges = await startGauges(engine, mounted);
  return {
    url,
    async stop() {
      endSweeps();
      endGauges();
      // Refuses new connections from here on.
      const closed = new Promise((resolve) => server.close(resolve));
      const sweep = setInterval(() => server.closeIdleConnections(), IDLE_SWEEP_MS);
      const force = setTimeout(() => server.closeAllConnections(), DRAIN_MS);
      await drain();
      // Each connection ends once its answer was sent.
      await closed;
      clearTimeout(force);
      clearInterval(sweep);
      await close();
      await release();
    },
  };
}

/** @returns removes them */
async function startGauges(engine: Engine, mounted: readonly Mounted[]): Promise<() => void> {
  if (!areMetricsOn()) return () => undefined;
  const { registerEngineGauges } = await import('../engine/metrics/index.js');
  const ends = [registerEngineGauges(engine), ...mounted.map(({ registerGauges }) => registerGauges())];
  return () => ends.forEach((end) => end());
}

/** How long stdio calls wait for Temporal, which may be starting too, from the start of the process. Clients' timeouts are 60 s. */
const FIRST_CONNECTION_LIMIT_MS = 30_000;

/**
 * Serves one client over standard input and output until it closes its input. Answers requests that don't need Temporal at once.
 *
 * @param mounts features beside operations; the settings switch them on
 * @param stack ends the service if it rejects (Temporal can't be started). Default: never rejects
 * @throws the reason with which `stack` rejected
 */
export async function serveStdio(
  settings: Settings,
  logger: Logger,
  mounts: readonly Mount[],
  stack: Promise<void> = Promise.resolve(),
): Promise<void> {
  const endTracing = await startTracing('stdio', logger);
  const { engine, mounted } = await createEngine(settings, logger, mounts, FIRST_CONNECTION_LIMIT_MS);
  const authentication = new Authentication(settings, logger);
  const audit = Audit.open(settings, logger);
  try {
    const secret = loadSecret(settings.home);
    const limits = new Limits(settings, engine, logger);
    const access = { policy: policyOf(settings, logger), limits: limits.starts, audit, mounted };
    const guard = new Guard(engine, authentication.callerOfProcess(), access, STDIO);
    await serveStdioProtocols(engine, guard, authentication, secret, logger, settings.resourceLinks, stack);
  } finally {
    authentication.close();
    // Over stdio, agents can't reconnect to this process. Over HTTP they reconnect to the next one.
    await Promise.all(mounted.map(({ close }) => close()));
    await audit?.close();
    await engine.temporal.close();
    await endTracing();
  }
}

/** @param firstConnectionLimitMs how long calls wait for the first connection to Temporal. Default: 0 */
async function createEngine(
  settings: Settings,
  logger: Logger,
  mounts: readonly Mount[],
  firstConnectionLimitMs = 0,
): Promise<{ engine: Engine; mounted: Mounted[] }> {
  const tools = await createTools(settings, logger, reservedNames(mounts, settings));
  const storage = openMeasuredStorage(settings);
  const codec = await loadPayloadCodec(settings);
  const temporal = new TemporalClient(settings, storage, logger, firstConnectionLimitMs, codec);
  const secret = loadSecret(settings.home);
  const engine = new Engine(
    temporal,
    tools,
    secret,
    storage,
    dataFoldersOf(settings),
    settings.operatorAnswers,
  );
  const opened = switchedOn(mounts, settings).map(({ open }) => open(engine, secret));
  return { engine, mounted: await Promise.all(opened) };
}
