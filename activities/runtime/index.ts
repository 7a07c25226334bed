/** What tool authors call in an activity (`longhaul/activity`). */
import { basename } from 'node:path';
import { Context } from '@temporalio/activity';
import type { Progress } from '../../operations/record.js';
import type { ActivityReport } from '../../operations/report.js';
import { artifactKey } from '../../platform/storage-keys.js';
import { current, activityContext } from './context.js';

export { log } from '@temporalio/activity';

/**
 * Says how far this activity is, in units of its own; activities' progress adds up to the operation's. It travels
 * as a heartbeat: it writes no history, and is sent at most once a second.
 */
export function report(progress: Progress): void {
  const around = activityContext.getStore();
  if (!around) {
    // Must not end the worker: in a callback of an event emitter there is no activity around.
    warnOnce();
    return;
  }
  around.progress = { ...progress, progress: Math.max(progress.progress, around.progress?.progress ?? 0) };
  // A local activity's report counts once it has ended: Temporal takes no heartbeats of it.
  if (Context.current().info.isLocal) return;
  const details: ActivityReport = { longhaul: 'report', progress: around.progress };
  Context.current().heartbeat(details);
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

/** What an earlier attempt of this activity reported last, to go on from there. */
export function lastReport(): Progress | undefined {
  return current().progress;
}

/** Fires when the operation is cancelled or times out, and when the worker shuts down. */
export function cancellationSignal(): AbortSignal {
  return Context.current().cancellationSignal;
}

/** The settings of the worker that runs this activity. */
export function workerSettings() {
  return current().settings;
}

/** A file that belongs to an operation, kept in storage. */
export interface Artifact {
  name: string;
  /** `longhaul://operations/{token}/artifacts/{name}` */
  uri: string;
  bytes: number;
}

/**
 * Moves a local file into storage as an artifact of the operation. The same name again replaces it.
 *
 * @param path of the file; it is gone afterwards
 */
export async function saveArtifact(path: string, name: string = basename(path)): Promise<Artifact> {
  const { storage, token, operationId } = current();
  const key = artifactKey(operationId, name);
  await storage.putFile(key, path);
  const uri = `longhaul://operations/${encodeURIComponent(token)}/artifacts/${encodeURIComponent(name)}`;
  return { name, uri, bytes: (await storage.size(key)) ?? 0 };
}
