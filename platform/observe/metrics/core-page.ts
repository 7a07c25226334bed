/**
 * Metrics of Temporal's native core (`temporal_...`). Its exporter listens where web pages can't find it, and the process adds
 * the core's page to its own.
 */
import { get } from 'node:http';
import { text } from 'node:stream/consumers';
import { anyFreePort, hiddenAddress } from '../../http/free-address.js';
import { formatAddress } from '../../settings/health-address.js';

/** Limit for reading the core's page, which comes from memory. */
const LIMIT_MS = 1_000;
const LOOPBACK = '127.0.0.1';

let address: string | undefined;

/** Chooses the address of the core's exporter. Call it before Temporal's runtime is installed. */
export async function chooseCoreAddress(): Promise<void> {
  address ??= formatAddress((await hiddenAddress()) ?? { host: LOOPBACK, port: await anyFreePort(LOOPBACK) });
}

/** Address of the core's exporter; undefined without metrics. */
export function coreAddress(): string | undefined {
  return address;
}

/** Call this when the core has no exporter: its page stays empty. */
export function withoutCorePage(): void {
  address = undefined;
}

/** The core's page; empty before there is a runtime, or if it doesn't answer. */
export function corePage(): Promise<string> {
  return new Promise((resolve) => {
    if (address === undefined) return resolve('');
    const none = () => resolve('');
    get(`http://${address}/metrics`, { agent: false, signal: AbortSignal.timeout(LIMIT_MS) }, (response) => {
      if (response.statusCode === 200) text(response).then(resolve, none);
      else none();
    }).on('error', none);
  });
}
