/** Addresses of workflows in Temporal's UI. */
import type { Settings } from '../../platform/settings/index.js';
import { readStackState } from '../../platform/temporal/address.js';
import { temporalConnectConfig } from '../../platform/temporal/connect-config.js';
import { EMBEDDED_UI, NO_UI } from '../../platform/settings/types.js';

/**
 * Address of Temporal's UI for callers: the setting's, else the embedded one if there is no authentication, because that has no
 * login and shows all callers' operations.
 */
export function temporalUiOf({
  home,
  temporalUi,
  authentication = [],
}: Pick<Settings, 'home'> & Partial<Pick<Settings, 'temporalUi' | 'authentication'>>): string | undefined {
  if (temporalUi !== undefined && temporalUi !== EMBEDDED_UI)
    return temporalUi === NO_UI ? undefined : temporalUi;
  if (authentication.length > 0) return undefined;
  return usesEmbeddedTemporal(home) ? readStackState(home).temporalUiUrl : undefined;
}

/** Whether this process connects to the home's embedded Temporal, even if a supervisor named its address. */
export function usesEmbeddedTemporal(home: string): boolean {
  const address = temporalConnectConfig(home)?.connectionOptions.address;
  return address !== undefined && address === readStackState(home).temporalAddress;
}

/** Address of a run's history in Temporal's UI. */
export function runUrl(ui: string, namespace: string, workflowId: string, runId: string): string {
  const path = ['namespaces', namespace, 'workflows', workflowId, runId, 'history'];
  return `${ui.replace(/\/+$/, '')}/${path.map(encodeURIComponent).join('/')}`;
}
