/** API for tool authors in activities (`longhaul/activity`). */
import { createHash } from 'node:crypto';
import { realpath, rm, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { inspect } from 'node:util';
import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { artifactUri, type Progress } from '../../operations/record.js';
import { usableProgress, type ActivityReport } from '../../operations/wire/report.js';
import type { Storage } from '../../platform/storage/index.js';
import { artifactKey } from '../../platform/storage/keys.js';
import { awaitStorage } from './await-storage.js';
import { ARTIFACT_REFUSED, holesProblem } from './holes.js';
import { currentContext, activityContext } from './context.js';

export { log } from '@temporalio/activity';

/** Log lines about wrong reports of one activity. */
const MAX_MISTAKES = 20;

/**
 * Reports this activity's progress, in its own units. The operation's progress is the sum of its activities' progress. Sent as a
 * heartbeat at most once a second; adds nothing to the history.
 */
export function report(reported: Progress): void {
  const context = activityContext.getStore();
  if (!context) {
    // Not an error, which could end the worker: callbacks of event emitters run outside of the activity's context.
    warnOnce();
    return;
  }
  const { value, problems } = usableProgress(reported, 'report()');
  if (problems.length > 0) warnOfMistakes(problems);
  const progress: Progress = { ...value, progress: value.progress ?? context.progress?.progress ?? 0 };
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

/** The problems that each activity's log names. */
const logged = new WeakMap<Context, Set<string>>();

function warnOfMistakes(problems: readonly string[]): void {
  const context = Context.current();
  const known = logged.get(context) ?? new Set();
  logged.set(context, known);
  for (const problem of problems) {
    if (known.has(problem) || known.size >= MAX_MISTAKES) continue;
    known.add(problem);
    context.log.warn(problem);
  }
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

/** Longest name of an artifact, in characters. */
const MAX_NAME_CHARACTERS = 1_000;

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
 * @throws ApplicationFailure `ArtifactRefused`, non-retryable, for a folder or other non-file, a sparse file with more than
 *   10 GiB of holes, and a name that is no relative path; the reason of {@link cancellationSignal}, once copying has stopped
 */
export async function saveArtifact(path: string, name: string = basename(path)): Promise<Artifact> {
  const signal = cancellationSignal();
  const file = await realpath(path);
  const about = await stat(file);
  const problem = about.isFile() ? await holesProblem(file, signal) : 'is no file';
  if (problem !== undefined) throw refused(name, problem);
  const saved = await storeArtifact(name, about.size, (storage, key) => storage.putFile(key, file, signal));
  await rm(path, { force: true });
  return saved;
}

/**
 * Stores bytes, or text as UTF-8, as an artifact of the operation. Replaces and waits like {@link saveArtifact}.
 *
 * @throws ApplicationFailure `ArtifactRefused`, non-retryable, for other content or a name that is no relative path
 */
export async function writeArtifact(name: string, content: string | Uint8Array): Promise<Artifact> {
  if (typeof content !== 'string' && !(content instanceof Uint8Array))
    throw refused(
      name,
      `expected text or bytes; got ${content === null ? 'null' : typeof content}: give JSON.stringify(value)`,
    );
  const bytes = typeof content === 'string' ? Buffer.from(content) : content;
  return storeArtifact(name, bytes.length, (storage, key) => storage.put(key, bytes));
}

/** Readers save artifacts under their names, so a name must not lead out of their folder. */
function isArtifactName(name: unknown): name is string {
  if (typeof name !== 'string' || /[\\\p{Cc}]/u.test(name) || name.length > MAX_NAME_CHARACTERS) return false;
  return name.split('/').every((part) => !['', '.', '..'].includes(part));
}

function refused(name: unknown, problem: string): ApplicationFailure {
  const shown = typeof name === 'string' ? name : inspect(name);
  return ApplicationFailure.nonRetryable(`artifact ${shown} ${problem}`, ARTIFACT_REFUSED);
}

async function storeArtifact(
  name: string,
  bytes: number,
  store: (storage: Storage, key: string) => Promise<void>,
): Promise<Artifact> {
  if (!isArtifactName(name))
    throw refused(
      name,
      'expected a name such as report.csv or out/report.csv, without .. and a / at its ends',
    );
  const { storage, token, operationId } = currentContext();
  const key = artifactKey(operationId, name);
  await awaitStorage(() => store(storage, key), {
    signal: cancellationSignal(),
    onWait: (message) => report({ ...(currentContext().progress ?? { progress: 0 }), message }),
  });
  return { name, uri: artifactUri(token, name), bytes };
}
