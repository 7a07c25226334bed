/** Finds free ports and addresses of loopback. */
import { randomInt } from 'node:crypto';
import { createServer, type AddressInfo } from 'node:net';
import type { ListenAddress } from '../settings/health-address.js';

/** A free port, different for each caller. @throws Error with the code EADDRNOTAVAIL when the machine doesn't have the address */
export function anyFreePort(host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen({ host, port: 0 }, () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}

/**
 * A loopback address, one of 16 million, and port that web pages can't find, for foreign listeners that don't check Host.
 *
 * @returns undefined if the machine doesn't have the address: macOS has only 127.0.0.1
 */
export async function hiddenAddress(host = randomLoopback()): Promise<ListenAddress | undefined> {
  try {
    return { host, port: await anyFreePort(host) };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRNOTAVAIL') return undefined;
    throw error;
  }
}

/** Avoids 127.0.0.0/16, which has the well-known addresses. */
function randomLoopback(): string {
  return `127.${randomInt(1, 255)}.${randomInt(0, 256)}.${randomInt(1, 255)}`;
}
