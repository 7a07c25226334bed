/**
 * The embedded Temporal: `temporal server start-dev` on loopback, tuned for one machine. Its history file is the only store of
 * operations.
 */
import { connect } from 'node:net';
import { mkdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Settings } from '../../platform/settings/index.js';
import { SEARCH_ATTRIBUTES } from '../../operations/wire/index.js';
import { anyFreePort, hiddenAddress } from '../../platform/http/free-address.js';
import { formatAddress, type ListenAddress } from '../../platform/settings/health-address.js';
import { readStackState } from '../../platform/temporal/address.js';
import { EMBEDDED_UI, NO_UI } from '../../platform/settings/types.js';
import { launch, type Exit, type Launched } from '../launcher.js';
import { startLogRotation, logPath, logSize, logTail } from '../log-files.js';
import { isPortFree, nextFreePort, requireFreePort } from '../ports.js';
import { endProcess, processIdentity } from '../../platform/home/process-identity.js';
import { messageOf, StackError, type Say } from '../stack-error.js';
import { updateStackState } from '../stack-state.js';
import { isDatabaseStuck } from './stuck-database.js';
import { findTemporalBinary } from './binary.js';
import { recoverRecord } from './database-check.js';
import { databaseMadeBy, databasePath, markDatabase } from './version.js';

const HOST = '127.0.0.1';
const FIRST_PORT = 7233;
const FIRST_UI_PORT = 8233;
const START_LIMIT_MS = 30_000;
const STOP_LIMIT_MS = 5_000;
const LOG = 'temporal';

/** Syncs at checkpoints, not at each commit. `synchronous=FULL` costs a quarter of the throughput (docs/running.md). */
const SQLITE_PRAGMAS = ['journal_mode=WAL', 'synchronous=NORMAL'];
const DYNAMIC_CONFIG = [
  // The default polls a queue 20 times a second, which adds 50 ms to every task.
  'history.transferProcessorMaxPollRPS=1000',
  'matching.numTaskqueueReadPartitions=1',
  'matching.numTaskqueueWritePartitions=1',
  // start-dev reads the namespace and its search attributes from the database at each use. Every 2 s is enough.
  'system.forceSearchAttributesCacheRefreshOnRead=false',
  // Refuses every call of the HTTP API, since no host has this name (RFC 6761). start-dev always opens the API's port, and web
  // pages can reach it, also with blind requests.
  'frontend.httpAllowedHosts=["longhaul.invalid"]',
  // Shares task queues fairly: each task's fairness key is its caller.
  'matching.enableFairness=true',
];

export const UI_IS_OFF = 'off (--temporal-ui on starts it)';

export interface TemporalPorts {
  port: number;
  /** Undefined without a UI. */
  uiPort?: number;
}

export interface EmbeddedTemporal {
  /** `host:port` of the frontend. */
  address: string;
  /** Undefined without a UI. */
  uiUrl: string | undefined;
  ports: TemporalPorts;
  /** PID of the Temporal process itself. */
  pid: number;
  /** Resolves when Temporal has ended, for any reason. */
  exited: Promise<Exit>;
  /** Sends SIGTERM, then SIGKILL after `graceMs` (default: 5 s). */
  stop(graceMs?: number): Promise<void>;
}

/**
 * Starts the embedded Temporal of `settings.home`, after ending an orphan. Take the home's lock first. Temporal ends with this
 * process, even if that is killed.
 *
 * @param ports of an earlier Temporal, for a restart. Default: the setting, else the next free ones
 * @throws StackError when no Temporal is found, its version doesn't fit the database, its port is in use, or it doesn't start
 */
export async function startEmbeddedTemporal(
  settings: Settings,
  say: Say,
  ports?: TemporalPorts,
): Promise<EmbeddedTemporal> {
  const { home } = settings;
  mkdirSync(home, { recursive: true });
  await endOrphanedTemporal(home, say);
  const recovered = await recoverRecord(home, say);
  const madeBy = recovered ?? databaseMadeBy(home);
  const database = madeBy && { path: databasePath(home), madeBy };
  const binary = await findTemporalBinary({ binFolder: settings.binFolder, database }, say);
  if (recovered || !database) markDatabase(home, binary.version);
  const stopRotation = startLogRotation(home, LOG);
  for (let attempt = 1; ; attempt++) {
    const chosen = ports ?? (await choosePorts(settings));
    const logStart = logSize(home, LOG);
    const { port, uiPort } = chosen;
    const served = uiPort === undefined ? undefined : { host: HOST, port: uiPort };
    const ui = served && (await addressOfUi(settings));
    const launched = await launch([binary.path, ...serverArguments(home, port, ui)], {
      home,
      log: LOG,
      environment: withoutTemporalVariables(),
    });
    const address = `${HOST}:${port}`;
    updateStackState(home, { temporalPid: launched.pid });
    let closeUi: (() => Promise<void>) | undefined;
    try {
      await waitUntilReady(address, launched);
      if (served && ui) closeUi = await (await import('./ui-proxy.js')).serveUi(settings, served, ui);
    } catch (error) {
      await launched.stop(STOP_LIMIT_MS);
      updateStackState(home, { temporalPid: undefined });
      // Another process may have taken the free port, if only for a moment.
      const wasTaken =
        (error as NodeJS.ErrnoException).code === 'EADDRINUSE' || !(await arePortsFree(chosen));
      if (!ports && attempt < 3 && wasTaken) continue;
      stopRotation();
      const lines = logTail(home, LOG, logStart).map((line) => `\n  ${line}`);
      throw new StackError(
        `Temporal (${binary.path}) did not start: ${messageOf(error)}; its log is ${logPath(home, LOG)}${lines.join('')}`,
      );
    }
    const uiUrl = served && ui && `http://${formatAddress(served)}`;
    updateStackState(home, { temporalAddress: address, temporalUiUrl: uiUrl });
    const ended = new AbortController();
    const exited = launched.exited.then(async (exit) => {
      stopRotation();
      ended.abort();
      // The next start needs its port.
      await closeUi?.();
      return exit;
    });
    void isDatabaseStuck({ log: logPath(home, LOG), from: logStart, signal: ended.signal }).then(
      (isStuck) => {
        if (!isStuck) return;
        say(
          "Temporal's connection to its database is stuck: every call fails. Ending it, so that it is started again.",
        );
        return launched.stop(STOP_LIMIT_MS);
      },
    );
    return {
      address,
      uiUrl,
      ports: chosen,
      pid: launched.pid,
      exited,
      async stop(graceMs = STOP_LIMIT_MS) {
        await launched.stop(graceMs);
        await exited;
        updateStackState(home, {
          temporalPid: undefined,
          temporalAddress: undefined,
          temporalUiUrl: undefined,
        });
      },
    };
  }
}

/** Ends a killed stack's orphaned Temporal on this home's database. */
export async function endOrphanedTemporal(home: string, say: Say): Promise<void> {
  const pid = readStackState(home).temporalPid;
  if (pid === undefined) return;
  const isOurs = (commandLine: string) => commandLine.includes(`--db-filename ${databasePath(home)} `);
  if (await endProcess(pid, isOurs, STOP_LIMIT_MS))
    say(`Ended a Temporal that was left running (PID ${pid}).`);
  updateStackState(home, { temporalPid: undefined });
}

async function choosePorts(settings: Settings): Promise<TemporalPorts> {
  const { temporalPort } = settings;
  if (temporalPort !== undefined)
    await requireFreePort({ host: HOST, port: temporalPort }, 'the embedded Temporal', 'temporalPort');
  const port = temporalPort ?? (await nextFreePort(HOST, FIRST_PORT, [settings.port]));
  if (!(await addressOfUi(settings))) return { port };
  return { port, uiPort: await nextFreePort(HOST, FIRST_UI_PORT, [settings.port, port]) };
}

/** Where the UI itself listens; undefined if it is off, or if web pages could find it and the user didn't ask for it. */
async function addressOfUi({ temporalUi }: Pick<Settings, 'temporalUi'>): Promise<ListenAddress | undefined> {
  if (temporalUi === NO_UI) return undefined;
  const hidden = await hiddenAddress();
  if (hidden || temporalUi !== EMBEDDED_UI) return hidden;
  return { host: HOST, port: await anyFreePort(HOST) };
}

async function arePortsFree({ port, uiPort }: TemporalPorts): Promise<boolean> {
  return (await isPortFree(HOST, port)) && (uiPort === undefined || (await isPortFree(HOST, uiPort)));
}

function serverArguments(home: string, port: number, ui: ListenAddress | undefined): string[] {
  return [
    ...['server', 'start-dev', '--ip', HOST, '--port', String(port)],
    ...(ui ? ['--ui-ip', ui.host, '--ui-port', String(ui.port)] : ['--headless']),
    ...['--db-filename', databasePath(home), '--log-level', 'warn', '--log-format', 'json'],
    ...SQLITE_PRAGMAS.flatMap((pragma) => ['--sqlite-pragma', pragma]),
    ...DYNAMIC_CONFIG.flatMap((value) => ['--dynamic-config-value', value]),
    ...Object.values(SEARCH_ATTRIBUTES).flatMap((name) => ['--search-attribute', `${name}=Keyword`]),
  ];
}

/** This process's environment without TEMPORAL_ variables, which must not change the embedded server's options. */
export function withoutTemporalVariables(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('TEMPORAL_')));
}

async function waitUntilReady(address: string, launched: Launched): Promise<void> {
  const abort = new AbortController();
  const died = launched.exited.then(({ how }) => {
    abort.abort();
    throw new Error(`it ended with ${how}`);
  });
  try {
    await Promise.race([waitUntilAnswering(address, abort.signal), died]);
    // Another Temporal may have answered at this address when ours found its port taken.
    if (!processIdentity(launched.pid)) await died;
  } finally {
    abort.abort();
    died.catch(() => undefined);
  }
}

async function waitUntilAnswering(address: string, signal: AbortSignal): Promise<void> {
  const deadline = performance.now() + START_LIMIT_MS;
  // Import during Temporal's start: loading takes as long.
  const { prepareNamespace } = await import('./namespace.js');
  for (;;) {
    try {
      await acceptsConnections(address);
      await prepareNamespace(address);
      return;
    } catch (error) {
      if (signal.aborted || performance.now() > deadline) throw error;
      await sleep(25);
    }
  }
}

/** Checks by TCP first, because a refused connection costs a second of back-off inside gRPC. */
async function acceptsConnections(address: string): Promise<void> {
  const [host, port] = address.split(':') as [string, string];
  await new Promise<void>((resolve, reject) => {
    const socket = connect(Number(port), host, () => resolve(void socket.destroy()));
    socket.once('error', reject);
  });
}
