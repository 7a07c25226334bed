/** Features beside operations, with tools of their own. Server processes receive them as a list, so no room imports one. */
import type { Engine } from '../engine/index.js';
import type { Settings } from '../platform/settings/index.js';
import type { ReservedNames } from '../platform/project/tools.js';
import type { BuiltinTool } from './plain/builtin-tool.js';

export interface Mount {
  /** The setting that switches it on, and the right that its callers need. */
  name: 'mailbox';
  toolNames: readonly string[];
  /** Called once, if it is switched on. */
  open: (engine: Engine, secret: Buffer) => Promise<Mounted>;
}

export interface Mounted {
  name: Mount['name'];
  tools: ReadonlyMap<string, BuiltinTool>;
  /** @returns removes them */
  registerGauges: () => () => void;
  /** Ends what this process's clients can't continue at another one. */
  close: () => Promise<void>;
}

export function switchedOn(mounts: readonly Mount[], settings: Settings): Mount[] {
  return mounts.filter(({ name }) => settings[name]);
}

/** Tool names that the features switched on have taken. */
export function reservedNames(mounts: readonly Mount[], settings: Settings): ReservedNames {
  return new Map(
    switchedOn(mounts, settings).flatMap(({ name, toolNames }) =>
      toolNames.map((tool): [string, string] => [tool, name]),
    ),
  );
}
