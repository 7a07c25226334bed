/** `longhaul up`: the whole stack of a home, in one command. */
import { setTimeout as sleep } from 'node:timers/promises';
import { endSteps, stepsThatRun } from '../worker/steps/end-steps.js';
import type { RunningStep } from '../worker/steps/running.js';
import type { Settings } from '../platform/settings/index.js';
import { settingFlag } from '../platform/settings/flag.js';
import { loadSecret } from '../platform/home/secret.js';
import { readStackState } from '../platform/temporal/address.js';
import { programCommand } from '../platform/home/program.js';
import { clientInstructions } from './client-instructions.js';
import { requireFreePort } from './ports.js';
import { mcpUrl, publicUrl, serverUrl, waitUntilReady } from './readiness.js';
import { sayEnded, STEP_GRACE_MS } from './down.js';
import { addressesUnderUp, formatAddress, isLoopback } from '../platform/settings/health-address.js';
import { shutdownRequests } from './foreground.js';
import { StackError, type Say } from './stack-error.js';
import { takeStackLock, type StackHolder } from './stack-lock.js';
import { clearStackState, updateStackState } from './stack-state.js';
import { endOrphans, startStack, type Stack } from './supervisor.js';
import { UI_IS_OFF } from './temporal/server.js';

const DRAIN_LIMIT_MS = 10_000;
/** After this time, notices say what the start waits for. */
const NOTICE_AFTER_MS = 5_000;

/**
 * Runs the stack until a shutdown request, and returns the exit code.
 *
 * @param print gets the addresses and how to add them to a client
 * @throws StackError when a stack already runs, a port is in use, or Temporal can't be started; SettingsError for a damaged key
 */
export async function up(settings: Settings, print: Say, say: Say): Promise<number> {
  const release = lockHome(settings.home, 'up');
  try {
    // A damaged key would put server and worker into a crash loop.
    loadSecret(settings.home);
    await endOrphans(settings.home, say);
    await requireFreePort(settings, 'the MCP server', 'port');
    await requireFreeHealthPorts(settings);
    const requests = shutdownRequests();
    updateStackState(settings.home, { supervisorPid: process.pid });
    const starting = startStack(settings, say).catch((error: unknown) => {
      clearStackState(settings.home);
      throw error;
    });
    const stack = await Promise.race([starting, requests.first]);
    // Processes that have started end with this one. The next start ends any orphans.
    if (!stack) return 130;
    updateStackState(settings.home, { supervisorPid: process.pid, mcpUrl: mcpUrl(settings) });
    void announce(settings, stack, requests.signal, print, say);
    await requests.first;
    say('Stopping the server and the worker first, Temporal last. Repeat to stop at once.');
    let exitCode = 0;
    const running = stepsThatRun(settings.home);
    const stopped = Promise.all([stack.stop(DRAIN_LIMIT_MS), endSteps(settings.home, STEP_GRACE_MS)]);
    const insisted = requests.second.then(() => {
      exitCode = 130;
      return Promise.all([stack.stop(0), endSteps(settings.home, 0)]);
    });
    const ended = Promise.race([stopped, insisted]).then(() => nameEndedSteps(settings.home, running, say));
    const code = await Promise.race([
      ended.then(() => exitCode),
      sleep(DRAIN_LIMIT_MS + 500, 1, { ref: false }),
    ]);
    if (code === 0) say('Stopped. Running operations continue at the next start.');
    return code;
  } finally {
    release();
  }
}

/** @throws StackError when a health port of the server or the worker is in use, or there is no port after it */
async function requireFreeHealthPorts({ healthAddress, port }: Settings): Promise<void> {
  const flag = settingFlag('healthAddress');
  for (const [part, address] of Object.entries(addressesUnderUp(healthAddress) ?? {})) {
    if (address.port > 65_535 || address.port === port)
      throw new StackError(
        `${flag} ${healthAddress}: expected a port after it for the worker, other than ${settingFlag('port')} ${port}`,
      );
    await requireFreePort(address, `the health address of the ${part}`, 'healthAddress');
  }
}

/** Says which steps the stop has ended. @param running steps that ran before the stop */
async function nameEndedSteps(home: string, running: Promise<RunningStep[]>, say: Say): Promise<void> {
  // The worker may have started some when it was asked to stop.
  const late = await stepsThatRun(home);
  await endSteps(home, 0);
  await sayEnded(home, [...(await running), ...late], say);
}

/** Takes the home's lock for this process, and returns a function that releases it. @throws StackError that names the holder */
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
  const startedMs = performance.now();
  let announced = '';
  const readiness = await waitUntilReady(serverUrl(settings), signal, (missing) => {
    const waitingFor = missing.join(', ');
    if (performance.now() - startedMs < NOTICE_AFTER_MS || waitingFor === announced) return;
    announced = waitingFor;
    say(`Not ready yet; waiting for: ${waitingFor}.`);
  });
  if (!readiness) return;
  const { tools } = readiness;
  const url = publicUrl(settings);
  print(
    [
      '',
      `Longhaul is ready: ${url}`,
      `Jobs over HTTP:    ${new URL('/docs', url).href}`,
      ...(stack.temporal ? [`Temporal's UI:     ${stack.temporal.uiUrl ?? UI_IS_OFF}`] : []),
      ...(tools ? [`Tools:             ${tools.join(', ') || 'none'}`] : []),
      `Callers:           ${callersOf(settings)}`,
      ...healthLines(settings),
      '',
      ...(await clientInstructions(url, settings)),
      '',
      'Ctrl-C stops it; running operations continue at the next start.',
    ].join('\n'),
  );
}

function healthLines({ healthAddress }: Settings): string[] {
  const addresses = addressesUnderUp(healthAddress);
  if (!addresses) return [];
  return [
    `Health, metrics:   server http://${formatAddress(addresses.server)}, worker http://${formatAddress(addresses.worker)}`,
  ];
}

function callersOf({ authentication, host }: Settings): string {
  const from = isLoopback(host) ? 'on this machine' : `from all networks of ${host}`;
  if (authentication.length === 0) return `anybody ${from}`;
  return `those with ${authentication.map((one) => CREDENTIALS[one]).join(' or ')}, ${from}`;
}

const CREDENTIALS = {
  keys: 'an API key',
  tokens: 'a token',
  mtls: 'a client certificate',
};
