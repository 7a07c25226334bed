/** `longhaul up`: the whole stack of a home, in one command. */
import { setTimeout as sleep } from 'node:timers/promises';
import { SETTING_VARIABLES, settingFlag, type Settings } from '../platform/config.js';
import { loadSecret } from '../platform/secret.js';
import { readStackState } from '../platform/temporal-address.js';
import { programCommand } from '../platform/program.js';
import { clientInstructions } from './client-instructions.js';
import { requireFreePort } from './ports.js';
import { mcpUrl, serverUrl, waitUntilReady } from './readiness.js';
import { shutdownRequests } from './signals.js';
import { StackError, type Say } from './stack-error.js';
import { takeStackLock, type StackHolder } from './stack-lock.js';
import { clearStackState, updateStackState } from './stack-state.js';
import { endOrphans, startStack, type Stack } from './supervisor.js';

const DRAIN_LIMIT_MS = 10_000;
/** A start that takes longer than this is told what it waits for. */
const NOTICE_AFTER_MS = 5_000;

/**
 * Runs the stack until somebody asks for its end.
 *
 * @param print what people came for: the addresses and how to add them to a client
 * @param say notices on the way
 * @returns the exit code
 * @throws StackError when a stack runs already, a port is in use, or Temporal can't be started; SettingsError when the
 *   home's key is damaged
 */
export async function up(settings: Settings, print: Say, say: Say): Promise<number> {
  const release = lockHome(settings.home, 'up');
  try {
    // A damaged key would end server and worker again and again.
    loadSecret(settings.home);
    await endOrphans(settings.home, say);
    const { host, port } = settings;
    await requireFreePort(host, port, 'the MCP server', SETTING_VARIABLES.port, settingFlag('port'));
    const requests = shutdownRequests();
    updateStackState(settings.home, { supervisorPid: process.pid });
    const starting = startStack(settings, say).catch((error: unknown) => {
      clearStackState(settings.home);
      throw error;
    });
    const stack = await Promise.race([starting, requests.first]);
    // What has been started by then ends as this process does; the next start looks after it.
    if (!stack) return 130;
    updateStackState(settings.home, { supervisorPid: process.pid, mcpUrl: mcpUrl(settings) });
    void announce(settings, stack, requests.signal, print, say);
    await requests.first;
    say('Ending: the server and the worker first, Temporal last. Once more to end at once.');
    let exitCode = 0;
    const insisted = requests.second.then(() => {
      exitCode = 130;
      return stack.stop(0);
    });
    const ended = Promise.race([stack.stop(DRAIN_LIMIT_MS), insisted]);
    const code = await Promise.race([
      ended.then(() => exitCode),
      sleep(DRAIN_LIMIT_MS + 500, 1, { ref: false }),
    ]);
    if (code === 0) say('Ended. Operations that were running go on at the next start.');
    return code;
  } finally {
    release();
  }
}

/**
 * Takes the home for this process.
 *
 * @returns gives it back
 * @throws StackError that says who has it
 */
export function lockHome(home: string, command: StackHolder['command']): () => void {
  const held = takeStackLock(home, command);
  if (typeof held === 'function') return held;
  throw new StackError(alreadyRunning(home, held));
}

function alreadyRunning(home: string, { pid, command }: StackHolder): string {
  const state = readStackState(home);
  const what =
    command === 'up'
      ? `a stack is already running on ${home}${state.mcpUrl ? `: ${state.mcpUrl}` : ''}`
      : `\`longhaul temporal\` is already running on ${home}${state.temporalAddress ? `: ${state.temporalAddress}` : ''}`;
  return `${what} (PID ${pid}). End it with \`${programCommand()} down\`, or choose another folder with --home.`;
}

async function announce(
  settings: Settings,
  stack: Stack,
  signal: AbortSignal,
  print: Say,
  say: Say,
): Promise<void> {
  const startedMs = Date.now();
  let announced = '';
  const tools = await waitUntilReady(serverUrl(settings), signal, (missing) => {
    const waitingFor = missing.join(', ');
    if (Date.now() - startedMs < NOTICE_AFTER_MS || waitingFor === announced) return;
    announced = waitingFor;
    say(`Not ready yet; waiting for: ${waitingFor}.`);
  });
  if (!tools) return;
  const url = mcpUrl(settings);
  print(
    [
      '',
      `Longhaul is ready: ${url}`,
      `Jobs over HTTP:    ${new URL('/docs', url).href}`,
      ...(stack.temporal ? [`Temporal's UI:     ${stack.temporal.uiUrl}`] : []),
      `Tools:             ${tools.join(', ') || 'none'}`,
      '',
      ...(await clientInstructions(url, settings)),
      '',
      'Ctrl-C ends it; operations go on at the next start.',
    ].join('\n'),
  );
}
