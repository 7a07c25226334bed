/**
 * The Temporal of the test run: an embedded one that test/global-setup.js starts, or the one that the environment names, e.g. by
 * test/temporal-postgres. A named one may need client certificates and refuse the operator service; the tests' own set-up then
 * uses the operator's address.
 */
import { readFileSync } from 'node:fs';
import { Connection } from '@temporalio/client';
import { temporalConnectConfig } from '../../platform/temporal/connect-config.js';

/** `host:port`, without TLS, at which the operator service answers; set if and only if the run's Temporal is a named one. */
const OPERATOR_ADDRESS = 'LONGHAUL_TEST_OPERATOR_ADDRESS';
/** File with the PID of the named Temporal, which is restarted when it is killed. */
const PID_FILE = 'LONGHAUL_TEST_TEMPORAL_PID_FILE';

/** Environment of a run's tests. */
export function namedTemporalVariables(operatorAddress: string, pidFile: string): Record<string, string> {
  return { [OPERATOR_ADDRESS]: operatorAddress, [PID_FILE]: pidFile };
}

/** Variables that name the run's Temporal to a process; undefined where it is the embedded one. */
export function namedTemporal(): Record<string, string> | undefined {
  if (!process.env[OPERATOR_ADDRESS]) return undefined;
  return Object.fromEntries(
    Object.entries(process.env).filter(
      (entry): entry is [string, string] => entry[0].startsWith('TEMPORAL_') && entry[1] !== undefined,
    ),
  );
}

/** PID of a named Temporal. */
export function namedTemporalPid(): number {
  return Number(readFileSync(process.env[PID_FILE]!, 'utf8'));
}

/** Variables with which a process has an operator's rights in the run's Temporal. */
export function operatorVariables(): Record<string, string> {
  return { TEMPORAL_ADDRESS: process.env[OPERATOR_ADDRESS] ?? process.env['TEMPORAL_ADDRESS']! };
}

/** This process's environment for a process of a test: without the run's certificates, if it uses another Temporal. */
export function inheritedEnvironment({ TEMPORAL_ADDRESS }: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  if ((TEMPORAL_ADDRESS ?? process.env['TEMPORAL_ADDRESS']) === process.env['TEMPORAL_ADDRESS'])
    return process.env;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('TEMPORAL_TLS')));
}

/** Connects to the run's Temporal with the rights that Longhaul has there. */
export async function connectToTemporal(): Promise<Connection> {
  const { connectionOptions } = temporalConnectConfig('')!;
  return Connection.connect(connectionOptions);
}

/** Connects to the run's Temporal as its operator. */
export async function connectAsOperator(): Promise<Connection> {
  const address = process.env[OPERATOR_ADDRESS];
  return address ? Connection.connect({ address }) : connectToTemporal();
}
