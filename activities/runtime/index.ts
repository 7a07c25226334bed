/** API for tool authors in activities (`longhaul/activity`). */
import { createHash } from 'node:crypto';
import { realpath, rm, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { Progress } from '../../operations/record.js';
import type { ActivityReport } from '../../operations/wire/report.js';
import type { Storage } from '../../platform/storage/index.js';
import { artifactKey } from '../../platform/storage/keys.js';
import { awaitStorage } from './await-storage.js';
import { ARTIFACT_REFUSED, holesProblem } from './holes.js';
import { currentContext, activityContext } from './context.js';

export { log } from '@temporalio/activity';

/**
 * Reports this activity's progress, in its own units. The operation's progress is the sum of its activities' progress. Sent as a
 * heartbeat at most once a second; adds nothing to the history.
 */
export function report(progress: Progress): void {
  const context = activityContext.getStore();
  if (!context) {
    // Not an error, which could end the worker: callbacks of event emitters run outside of the activity's context.
    warnOnce();
    return;
  }
  context.onFirstReport?.();
  delete context.onFirstReport;
  const { earlier } = context;
  // Progress never decreases. Until this attempt catches up, the previous attempt's number and text stay.
  if (!earlier || progress.progress >= earlier.progress) {
    delete context.earlier;
    context.progress = {
      ...progress,
      progress: Math.max(progress.progress, context.progress?.progress ?? 0),
    };
  }
  // A local activity has no heartbeats: its report counts once it has ended.
  if (Context.current().info.isLocal) return;
  Context.current().heartbeat({
    longhaul: 'report',
    progress: context.progress,
  } satisfies ActivityReport);
}

let hasWarned = false;

function warnOnce(): void {
  if (hasWarned) return;
  hasWarned = true;
  process.emitWarning(
    'report() was called where it has no effect: outside of its activity (bind the callback with AsyncResource.bind()), ' +
      'or in an activity of a workflow that belongs to no operation',
  );
}

/** The last report of an earlier attempt of this activity. Continue from there. */
export function lastReport(): Progress | undefined {
  return currentContext().progress;
}

/** Fires when the operation is cancelled or times out, and when the worker shuts down. */
export function cancellationSignal(): AbortSignal {
  return Context.current().cancellationSignal;
}

/**
 * Idempotency key for a request to another system. It is the same in every attempt and on every worker, so a system that accepts such
 * keys does the request once. It doesn't reveal the operation's token, which would let readers cancel the operation.
 *
 * @param name of the request; use another one for each request of the operation
 * @returns 32 hexadecimal digits
 */
export function requestKey(name: string): string {
  return createHash('sha256').update(`${currentContext().operationId}/${name}`).digest('hex').slice(0, 32);
}

export function workerSettings() {
  return currentContext().settings;
}

/** A file in storage that belongs to an operation. */
export interface Artifact {
  name: string;
  /** `longhaul://operations/{token}/artifacts/{name}` */
  uri: string;
  bytes: number;
}

/**
 * Moves a local file into storage as an artifact of the operation. Replaces an artifact of the same name. While the disk is
 * full or storage is down, it waits until the activity is cancelled, and the operation's status message says so.
 *
 * @param path of the file, or of a link to it; both are removed
 * @throws ApplicationFailure `ArtifactRefused`, non-retryable, for a folder or other non-file, and a sparse file with more than
 *   10 GiB of holes; the reason of {@link cancellationSignal}, once copying has stopped
 */
export async function saveArtifact(path: string, name: string = basename(path)): Promise<Artifact> {
  const signal = cancellationSignal();
  const file = await realpath(path);
  const about = await stat(file);
  const problem = about.isFile() ? await holesProblem(file, signal) : 'is no file';
  if (problem !== undefined)
    throw ApplicationFailure.nonRetryable(`artifact ${name} ${problem}`, ARTIFACT_REFUSED);
  const saved = await storeArtifact(name, about.size, (storage, key) => storage.putFile(key, file, signal));
  await rm(path, { force: true });
  return saved;
}

/** Stores bytes, or text as UTF-8, as an artifact of the operation. Replaces and waits like {@link saveArtifact}. */
export function writeArtifact(name: string, content: string | Uint8Array): Promise<Artifact> {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content;
  return storeArtifact(name, bytes.length, (storage, key) => storage.put(key, bytes));
}

async function storeArtifact(
  name: string,
  bytes: number,
  store: (storage: Storage, key: string) => Promise<void>,
): Promise<Artifact> {
  const { storage, token, operationId } = currentContext();
  const key = artifactKey(operationId, name);
  await awaitStorage(() => store(storage, key), {
    signal: cancellationSignal(),
    onWait: (message) => report({ ...(currentContext().progress ?? { progress: 0 }), message }),
  });
  const uri = `longhaul://operations/${encodeURIComponent(token)}/artifacts/${encodeURIComponent(name)}`;
  return { name, uri, bytes };
}
