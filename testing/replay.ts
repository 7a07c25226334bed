/** Replaying histories with a project's current workflows. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { historyToJSON, type History } from '@temporalio/common/lib/proto-utils.js';
import { settingsToEnvironment, type Settings } from '../platform/config.js';
import { ReplayError } from './errors.js';
import type { ReplayAnswer } from './replay-process.js';

const PROCESS = fileURLToPath(new URL('./replay-process.js', import.meta.url));

/**
 * @param history as Temporal's client gives it, or the path of a file with its JSON
 * @throws ReplayError
 */
export async function replayHistory(settings: Settings, history: History | string): Promise<void> {
  const json = typeof history === 'string' ? await readHistory(history) : historyToJSON(history);
  const path = join(settings.home, `history-${randomUUID()}.json`);
  await writeFile(path, json);
  try {
    const { failure } = await replayApart(settings, path);
    if (failure) throw new ReplayError(failure.message, failure.isNondeterministic);
  } finally {
    await rm(path, { force: true });
  }
}

async function readHistory(path: string): Promise<string> {
  if (!existsSync(path))
    throw new ReplayError(`${path}: expected a history as JSON; there is no such file`, false);
  const text = await readFile(path, 'utf8');
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch {
    content = undefined;
  }
  if (!Array.isArray((content as { events?: unknown } | undefined)?.events))
    throw new ReplayError(
      `${path}: expected a history as JSON, with its events; got ${text.slice(0, 80)}`,
      false,
    );
  return text;
}

async function replayApart(settings: Settings, path: string): Promise<ReplayAnswer> {
  const child = fork(PROCESS, [path], {
    env: { ...process.env, ...settingsToEnvironment(settings), NODE_OPTIONS: '' },
    execArgv: [],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  const exited = once(child, 'exit');
  const [answer] = (await Promise.race([
    once(child, 'message'),
    exited.then(([code, signal]) => [
      { failure: { message: `the replay ended with ${code ?? signal}`, isNondeterministic: false } },
    ]),
  ])) as [ReplayAnswer];
  if (child.connected) child.disconnect();
  await exited;
  return answer;
}
