/**
 * Connection to Temporal: from the environment (TEMPORAL_ADDRESS and its family), from a profile of Temporal's own configuration
 * if TEMPORAL_PROFILE names one, else to the embedded server of LONGHAUL_HOME.
 */
import { loadClientConnectConfig, type ClientConnectConfig } from '@temporalio/envconfig';
import { readStackState, usesExternalTemporal } from './address.js';

/** Flags with which Temporal's own command line reaches the same server and namespace. Keys and certificates come from the environment. */
export function temporalFlags(home: string): Record<'address' | 'namespace', string> | undefined {
  const config = temporalConnectConfig(home);
  const { address } = config?.connectionOptions ?? {};
  return address === undefined ? undefined : { address, namespace: config?.namespace ?? 'default' };
}

/** Address, TLS, API key and namespace; undefined if the environment names no Temporal and no embedded one has started. */
export function temporalConnectConfig(
  home: string,
  environment: NodeJS.ProcessEnv = process.env,
): ClientConnectConfig | undefined {
  if (usesExternalTemporal(environment)) {
    const overrideEnvVars = Object.fromEntries(
      // An empty variable counts as unset.
      Object.entries(environment).filter((entry): entry is [string, string] => Boolean(entry[1])),
    );
    const profile = environment['TEMPORAL_PROFILE'];
    return loadClientConnectConfig({ ...(profile ? { profile } : { disableFile: true }), overrideEnvVars });
  }
  const { temporalAddress } = readStackState(home);
  if (!temporalAddress) return undefined;
  // The embedded server has no TLS, no keys and one namespace, so the variables for them don't apply.
  return loadClientConnectConfig({
    disableFile: true,
    overrideEnvVars: { TEMPORAL_ADDRESS: temporalAddress },
  });
}
