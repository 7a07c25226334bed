/** Health and metrics of a process. Start them before its work, and end them after it. */
import type { Settings } from '../../settings/index.js';
import type { Logger } from '../log.js';
import { startMetrics } from '../metrics/index.js';
import { formatAddress, parseAddress } from '../../settings/health-address.js';
import type { ReadinessBody } from './checks.js';

/** Keeps metrics if the settings ask for them and there is a page. Call it first: Temporal's core has metrics too. */
export async function prepareMetrics(settings: Settings, process: 'server' | 'worker'): Promise<void> {
  if (settings.metrics && (process === 'server' || settings.healthAddress !== undefined))
    await startMetrics(process);
}

/**
 * Serves health and metrics, and registers the home's gauges.
 *
 * @returns a function that ends both
 * @throws SettingsError when the process can't listen on the address
 */
export async function startProcessHealth(
  settings: Settings,
  readiness: () => Promise<ReadinessBody>,
  logger: Logger,
): Promise<() => Promise<void>> {
  const ends: (() => void | Promise<void>)[] = [];
  if (settings.metrics) {
    const { registerHomeGauges } = await import('./home-gauges.js');
    ends.push(registerHomeGauges(settings, readiness));
  }
  if (settings.healthAddress !== undefined) {
    const { startHealthListener } = await import('./listener.js');
    const address = parseAddress(settings.healthAddress)!;
    ends.push(await startHealthListener(address, settings.allowedHosts, readiness));
    logger.info({ healthAddress: formatAddress(address), metrics: settings.metrics }, 'health is served');
  }
  return async () => {
    for (const end of ends) await end();
  };
}
