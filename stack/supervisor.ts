/** Supervises Temporal (unless the environment names one), worker and MCP server. The others see a crash only as a pause. */
import {
  SETTING_VARIABLES,
  settingsToEnvironment,
  SUPERVISED_VARIABLE,
  type Settings,
} from '../platform/settings/index.js';
import { addressesUnderUp, formatAddress } from '../platform/settings/health-address.js';
import { usesExternalTemporal, readStackState } from '../platform/temporal/address.js';
import { startLogRotation } from './log-files.js';
import { keepRunning, type SupervisedProcess } from './keep-running.js';
import { isPartOf, startPart, type Part } from './node-child.js';
import { endProcess } from '../platform/home/process-identity.js';
import type { Say } from './stack-error.js';
import { clearStackState, updateStackState } from './stack-state.js';
import {
  endOrphanedTemporal,
  startEmbeddedTemporal,
  withoutTemporalVariables,
  type EmbeddedTemporal,
} from './temporal/server.js';

/** Part of the stop limit reserved for Temporal to close its database. */
const TEMPORAL_SHARE_MS = 2_000;
const PARTS: Part[] = ['server', 'worker'];

export interface Stack {
  /** Undefined when the environment names a Temporal. */
  temporal: EmbeddedTemporal | undefined;
  /** Stops server and worker first, Temporal last. Call it again with 0 to stop at once. @param limitMs for all processes together */
  stop(limitMs: number): Promise<void>;
}

/**
 * Starts the stack and keeps it running. Take the home's lock and end orphans first.
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
  const rotations = [...PARTS, 'up'].map((part) => startLogRotation(home, part));
  const parts = PARTS.map((part) =>
    keepRunning(
      part === 'server' ? 'The MCP server' : 'The worker',
      async () => {
        const running = startPart(part, home, { ...environment, ...healthVariable(settings, part) }, say);
        updateStackState(home, { [`${part}Pid`]: running.pid });
        return running;
      },
      say,
    ),
  );
  return {
    temporal,
    async stop(limitMs) {
      const deadline = performance.now() + limitMs;
      const all = (processes: (SupervisedProcess | undefined)[], graceMs: number) =>
        Promise.all(processes.map(async (process) => process?.stop(Math.max(0, graceMs))));
      if (limitMs === 0) await all([...parts, keptTemporal], 0);
      await all(parts, limitMs - TEMPORAL_SHARE_MS);
      await all([keptTemporal], deadline - performance.now());
      rotations.forEach((end) => end());
      clearStackState(home);
    },
  };
}

/** Ends orphaned processes of a killed stack, after checking that they belong to this home. */
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

function healthVariable({ healthAddress }: Settings, part: Part): NodeJS.ProcessEnv {
  const addresses = addressesUnderUp(healthAddress);
  return addresses ? { [SETTING_VARIABLES.healthAddress]: formatAddress(addresses[part]) } : {};
}

/** Environment of a part. An embedded Temporal replaces all TEMPORAL_ variables. */
function partEnvironment(settings: Settings, temporalAddress: string | undefined): NodeJS.ProcessEnv {
  const isNamed = temporalAddress === undefined;
  return {
    ...(isNamed ? process.env : { ...withoutTemporalVariables(), TEMPORAL_ADDRESS: temporalAddress }),
    ...settingsToEnvironment(settings),
    [SUPERVISED_VARIABLE]: '1',
  };
}
