/** Context of an operation's activity. Set by the worker, read by the functions that authors call. */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Progress } from '../../operations/record.js';
import type { Settings } from '../../platform/config.js';
import type { ContactWatch } from './contact.js';
import type { Storage } from '../../platform/storage.js';

export interface ActivityContext {
  settings: Settings;
  storage: Storage;
  /** The operation's token. */
  token: string;
  /** The operation's workflow ID; in a part it differs from that of the activity's workflow. */
  operationId: string;
  /** Watches the worker's contact with Temporal, for work that must end without it. */
  contact: ContactWatch;
  /** The last report; initially that of the previous attempt. */
  progress: Progress | undefined;
  /** Called once Temporal has the activity's outcome. */
  afterReport: (() => Promise<void>)[];
}

/** Global, because a user's own TypeScript may be loaded with a second copy of this module. */
const KEY = Symbol.for('longhaul.activity.context');
const globals = globalThis as { [KEY]?: AsyncLocalStorage<ActivityContext> };

export const activityContext: AsyncLocalStorage<ActivityContext> = (globals[KEY] ??= new AsyncLocalStorage());

/** @throws Error outside of an activity that a Longhaul worker runs */
export function currentContext(): ActivityContext {
  const found = activityContext.getStore();
  if (!found) throw new Error('called outside of an activity that a Longhaul worker runs');
  return found;
}
