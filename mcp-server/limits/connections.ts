/** Connection limits: in total, and per address (IPv6: per /64). */
import type { Server, Socket } from 'node:net';
import type { Settings } from '../../platform/settings/index.js';
import { networkOf, trustedBy } from '../../platform/http/client-address.js';
import { sparingly, type Logger } from '../../platform/observe/log.js';
import { OpenCounts } from './open-requests.js';

const MOST_CONNECTIONS = 20_000;
/** Closes new connections beyond the limits. Trusted proxies' connections count only in the total. */
export function limitConnections(server: Server, settings: Settings, logger: Logger): void {
  const { maxConnectionsPerAddress } = settings;
  const isTrusted = trustedBy(settings.trustedProxies);
  const open = new OpenCounts();
  const report = sparingly((address: string | undefined) =>
    logger.warn({ address }, 'a connection was closed, since there are too many'),
  );
  server.maxConnections = MOST_CONNECTIONS;
  server.on('drop', (data) => report(data?.remoteAddress));
  server.on('connection', (socket: Socket) => {
    const address = socket.remoteAddress;
    if (address === undefined || isTrusted(address)) return;
    const network = networkOf(address);
    if (open.get(network) >= maxConnectionsPerAddress) {
      report(address);
      socket.destroy();
      return;
    }
    open.add(network);
    socket.once('close', () => open.remove(network));
  });
}
