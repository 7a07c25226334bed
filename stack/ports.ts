/** Finds free ports. */
import { createServer } from 'node:net';
import type { ListenAddress } from '../platform/settings/health-address.js';
import { settingFlag } from '../platform/settings/flag.js';
import { SETTING_VARIABLES, type SettingName } from '../platform/settings/index.js';
import { StackError } from './stack-error.js';

export async function isPortFree(host: string, port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE' || error.code === 'EACCES') resolve(false);
      else reject(new StackError(`can't listen on ${host}:${port}: ${error.message}`));
    });
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(true)));
  });
}

/** The first free port from `first` on that isn't in `taken`. */
export async function nextFreePort(
  host: string,
  first: number,
  taken: readonly number[] = [],
): Promise<number> {
  for (let port = first; port < first + 500 && port <= 65_535; port++) {
    if (!taken.includes(port) && (await isPortFree(host, port))) return port;
  }
  throw new StackError(`no free port on ${host} from ${first} to ${first + 499}`);
}

/** @throws StackError when the port is in use, naming the setting to change */
export async function requireFreePort(
  { host, port }: ListenAddress,
  use: string,
  setting: SettingName,
): Promise<void> {
  if (await isPortFree(host, port)) return;
  const other = `${SETTING_VARIABLES[setting]} or ${settingFlag(setting)}`;
  throw new StackError(
    `port ${port} on ${host} is in use, and ${use} needs it: end what uses it, or choose another with ${other}`,
  );
}
