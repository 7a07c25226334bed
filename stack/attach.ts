/**
 * Attaches a stdio client to the running stack, or starts one that outlives the client. Clients that start together each run
 * `longhaul up`: the home's lock admits one, and all wait for it.
 */
import { spawn } from 'node:child_process';
import { closeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { settingsToEnvironment, type Settings } from '../platform/settings/index.js';
import { PROGRAM_PATH, programCommand } from '../platform/home/program.js';
import { usesExternalTemporal, readStackState } from '../platform/temporal/address.js';
import { logPath, logSize, logTail, openLog } from './log-files.js';
import { readReadiness, serverUrl } from './readiness.js';
import { StackError, type Say } from './stack-error.js';
import { stackHolder } from './stack-lock.js';

const LOG = 'up';
const POLL_INTERVAL_MS = 50;
/** Interval for copying output of `longhaul up` to the client's log, which shows why a start takes long. */
const REPORT_INTERVAL_MS = 1_000;

/** Ensures that the home's stack is ready. @param say must not write to standard output, which MCP uses @throws StackError */
export async function attachToStack(settings: Settings, say: Say): Promise<void> {
  const { home } = settings;
  let started: ReturnType<typeof startDetached> | undefined;
  let reportedMs = performance.now();
  for (;;) {
    const holder = stackHolder(home);
    if (holder) {
      const { mcpUrl } = readStackState(home);
      const url = mcpUrl ? new URL(mcpUrl).origin : serverUrl(settings);
      if ((mcpUrl || holder.command === 'temporal') && (await readReadiness(url)).ready) break;
      if (holder.command === 'temporal') {
        throw new StackError(
          `\`longhaul temporal\` runs on ${home} (PID ${holder.pid}), but no server answers at ${url}: ` +
            `start \`${programCommand()} worker\` and \`${programCommand()} server\` as well, or end it to have the whole stack started`,
        );
      }
    } else if (!started) {
      say(`No stack is running on ${home}; starting one. End it with \`${programCommand()} down\`.`);
      started = startDetached(settings);
    } else if (started.exitCode() !== undefined) {
      throw new StackError([`the stack on ${home} did not start:`, ...started.output()].join('\n  '));
    }
    if (started && performance.now() - reportedMs > REPORT_INTERVAL_MS) {
      reportedMs = performance.now();
      started.newOutput().forEach((line) => say(line));
    }
    await sleep(POLL_INTERVAL_MS);
  }
  if (!usesExternalTemporal() && !readStackState(home).temporalAddress) {
    throw new StackError(
      `the stack on ${home} uses a Temporal that its environment names: give this command the same TEMPORAL_ADDRESS ` +
        'or TEMPORAL_PROFILE',
    );
  }
}

function startDetached(settings: Settings) {
  const logStart = logSize(settings.home, LOG);
  const log = openLog(settings.home, LOG);
  const child = spawn(process.execPath, [PROGRAM_PATH, 'up', '--home', settings.home], {
    env: { ...process.env, ...settingsToEnvironment(settings) },
    stdio: ['ignore', log, log],
    detached: true,
  });
  closeSync(log);
  child.unref();
  let code: number | undefined;
  child.once('error', () => (code = 1));
  child.once('exit', (exitCode) => (code = exitCode ?? 1));
  let seen = 0;
  const lines = () => logTail(settings.home, LOG, logStart, 1_000);
  return {
    exitCode: () => code,
    output: () => [...lines().slice(-20), `(its log is ${logPath(settings.home, LOG)})`],
    newOutput: () => {
      const all = lines();
      const fresh = all.slice(seen);
      seen = all.length;
      return fresh;
    },
  };
}
