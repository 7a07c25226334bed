/** The tools that a server with these settings offers. */
import { reservedNames } from '../mcp-server/mount.js';
import { MOUNTS } from '../mounts.js';
import type { Settings } from '../platform/settings/index.js';
import { createTools, type Tools } from '../platform/project/tools.js';

/** @throws ProjectError as {@link createTools} */
export function loadTools(settings: Settings, logger: Parameters<typeof createTools>[1]): Promise<Tools> {
  return createTools(settings, logger, reservedNames(MOUNTS, settings));
}
