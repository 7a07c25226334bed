/** `longhaul list --watch`: a line for each change of an operation, for pipes. */
import { print, printJson, say } from '../console.js';
import { EXIT } from '../client/exit-codes.js';
import { operationChanges, type ChangesFilter } from './operation-changes.js';
import type { Session } from '../client/session.js';
import { elapsed } from '../terminal/status-line.js';
import { oneLine } from '../terminal/table.js';
import type { ListedOperation } from '../client/wire.js';

export interface WatchListOptions extends ChangesFilter {
  /** Prints changes to this status only. */
  status?: string;
  intervalMs: number;
  json: boolean;
}

/** Prints changes until Ctrl-C. @returns the exit code */
export async function watchList(
  session: Session,
  { status, intervalMs, json, ...filter }: WatchListOptions,
): Promise<number> {
  const ending = new AbortController();
  const end = () => ending.abort();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, end);
  const onConnectionChange = (why?: string) =>
    say(why === undefined ? 'the server is back' : `the server is gone (${why}); retrying`);
  let isKnown = false;
  const options = {
    signal: ending.signal,
    get isKnown() {
      return isKnown;
    },
    onReached: () => (isKnown = true),
    onConnectionChange,
  };
  for await (const operation of operationChanges(session, filter, intervalMs, options)) {
    if (status !== undefined && operation.status !== status) continue;
    if (json) printJson({ at: new Date().toISOString(), ...operation });
    else print(changeLine(operation));
  }
  return EXIT.ok;
}

/** `02:46:10 0f8b... release working: build / Compile (1m 05s)`. */
function changeLine({
  token,
  owner,
  tool,
  status,
  stage,
  createdAt,
  closedAt,
  problem,
}: ListedOperation): string {
  const time = new Date().toISOString().slice(11, 19);
  const took = elapsed((closedAt ? Date.parse(closedAt) : Date.now()) - Date.parse(createdAt));
  const said = [status, closedAt === undefined ? stage : undefined].filter(Boolean).join(': ');
  return oneLine([time, token, owner, tool, said, `(${took})`, problem].filter(Boolean).join(' '));
}
