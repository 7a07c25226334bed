/**
 * Features beside operations, with tools of their own. Processes are given a list of them, so that no room imports one and each may
 * import any room.
 */
import type { Engine } from '../engine/index.js';
import type { Settings } from '../platform/settings/index.js';
import type { ReservedNames } from '../platform/tools.js';
import type { BuiltinTool } from './plain/builtin-tool.js';

export interface Mount {
  /** Setting that switches it on, and right that its callers need. */
  name: 'mailbox';
  /** Names of its tools. */
  toolNames: readonly string[];
  /** Called once, if it is switched on. */
  open: (engine: Engine, secret: Buffer) => Promise<Mounted>;
}

/** A feature in a server process. */
export interface Mounted {
  name: Mount['name'];
  tools: ReadonlyMap<string, BuiltinTool>;
  /** @returns a function that removes them */
  registerGauges: () => () => void;
  /** Ends what the clients of this process can't continue at another one. */
  close: () => Promise<void>;
}

export function switchedOn(mounts: readonly Mount[], settings: Settings): Mount[] {
  return mounts.filter(({ name }) => settings[name]);
}

/** Names of tools that are taken by what is switched on. */
export function reservedNames(mounts: readonly Mount[], settings: Settings): ReservedNames {
  return new Map(
    switchedOn(mounts, settings).flatMap(({ name, toolNames }) =>
      toolNames.map((tool): [string, string] => [tool, name]),
    ),
  );
}
