/**
 * The processes of one stack: Temporal (unless the environment names one), worker and MCP server, each of which may
 * crash and is started again without the others noticing more than a pause.
 */
import { settingsToEnvironment, SUPERVISED_VARIABLE, type Settings } from '../platform/config.js';
import { usesExternalTemporal, readStackState } from '../platform/temporal-address.js';
import { rotateLog } from './log-files.js';
import { keepRunning, type SupervisedProcess } from './keep-running.js';
import { isPartOf, startPart, type Part } from './node-child.js';
import { endProcess } from '../platform/process-identity.js';
import type { Say } from './stack-error.js';
import { clearStackState, updateStackState } from './stack-state.js';
import { endOrphanedTemporal, startEmbeddedTemporal, type EmbeddedTemporal } from './temporal-server.js';

/** What Temporal needs to close its database, of the time that the whole stack has to end. */
const TEMPORAL_SHARE_MS = 2_000;
const PARTS: Part[] = ['server', 'worker'];

export interface Stack {
  /** Undefined when the environment names a Temporal. */
  temporal: EmbeddedTemporal | undefined;
  /**
   * Ends all: server and worker first, Temporal last. Called again with 0, ends at once.
   *
   * @param limitMs time for everything together; what is left then is killed
   */
  stop(limitMs: number): Promise<void>;
}

/**
 * Starts the stack and keeps it running. The caller holds the home's lock, and has ended what an earlier
 * stack may have left.
 *
 * @throws StackError when Temporal can't be started
 */
export async function startStack(settings: Settings, say: Say): Promise<Stack> {
  const { home } = settings;
  const temporal = usesExternalTemporal() ? undefined : await startEmbeddedTemporal(settings, say);
  const keptTemporal =
    temporal &&
    keepRunning('Temporal', () => startEmbeddedTemporal(settings, say, temporal.ports), say, temporal);
  const environment = partEnvironment(settings, temporal?.address);
  const unbound = [...PARTS, 'up'].map((part) => rotateLog(home, part));
  const parts = PARTS.map((part) =>
    keepRunning(
      part === 'server' ? 'The MCP server' : 'The worker',
      async () => {
        const running = startPart(part, home, environment, say);
        updateStackState(home, { [`${part}Pid`]: running.pid });
        return running;
      },
      say,
    ),
  );
  return {
    temporal,
    async stop(limitMs) {
      const deadline = Date.now() + limitMs;
      const all = (processes: (SupervisedProcess | undefined)[], graceMs: number) =>
        Promise.all(processes.map(async (process) => process?.stop(Math.max(0, graceMs))));
      if (limitMs === 0) await all([...parts, keptTemporal], 0);
      await all(parts, limitMs - TEMPORAL_SHARE_MS);
      await all([keptTemporal], deadline - Date.now());
      unbound.forEach((end) => end());
      clearStackState(home);
    },
  };
}

/** Ends what a killed stack has left on this home, once it is sure that it is this home's. */
export async function endOrphans(home: string, say: Say): Promise<void> {
  const state = readStackState(home);
  const graceMs = 5_000;
  await Promise.all(
    PARTS.map(async (part) => {
      const pid = state[`${part}Pid`];
      if (pid && (await endProcess(pid, (commandLine) => isPartOf(home, part, commandLine), graceMs))) {
        say(`Ended a ${part} that was left running (PID ${pid}).`);
      }
    }),
  );
  await endOrphanedTemporal(home, say);
  clearStackState(home);
}

/** The settings for a part. An embedded Temporal takes the place of everything that Temporal's variables say. */
function partEnvironment(settings: Settings, temporalAddress: string | undefined): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(
    ([name]) => temporalAddress === undefined || !name.startsWith('TEMPORAL_'),
  );
  return {
    ...Object.fromEntries(inherited),
    ...settingsToEnvironment(settings),
    ...(temporalAddress === undefined ? {} : { TEMPORAL_ADDRESS: temporalAddress }),
    [SUPERVISED_VARIABLE]: '1',
  };
}
