/** Commands that connect to Temporal, not to a server. */
import { hostname, userInfo } from 'node:os';
import type { Command } from 'commander';
import { Client, Connection } from '@temporalio/client';
import { openStorage } from '../platform/storage/index.js';
import type { Settings } from '../platform/settings/index.js';
import { temporalConnectConfig } from '../platform/temporal/connect-config.js';
import { dataConverterOf } from '../platform/temporal/data-converter.js';
import { isDenied, isUnreachable, temporalMessage } from '../platform/temporal/grpc-errors.js';
import { readableMemos } from '../platform/temporal/memo.js';
import { followTime } from '../platform/temporal/time.js';
import { runReporting } from './client/command.js';
import { EXIT } from './client/exit-codes.js';
import { CommandFailure } from './failure.js';
import { settingsOf } from './settings-flags.js';

const CONNECT_LIMIT_MS = 5_000;

/** Sets the action of a command that needs Temporal. @param run gets the operands */
export function runOnTemporal<Operands extends unknown[]>(
  command: Command,
  run: (client: Client, settings: Settings, ...operands: Operands) => Promise<void>,
): void {
  runReporting<Operands>(command, async (...operands) => {
    const settings = await settingsOf(command);
    await withTemporal(settings, (client) => run(client, settings, ...operands));
  });
}

/**
 * Runs a function with a Temporal client that identifies itself as user and machine.
 *
 * @throws CommandFailure with the exit code `unreachable` if there is no Temporal, it stops answering, or it refuses the credentials
 */
export async function withTemporal<T>(settings: Settings, run: (client: Client) => Promise<T>): Promise<T> {
  const config = temporalConnectConfig(settings.home);
  if (!config) throw unreachable(`no Temporal runs in ${settings.home}, and TEMPORAL_ADDRESS names none`);
  const { connectionOptions, namespace = 'default' } = config;
  const { address } = connectionOptions;
  const connection = await Connection.connect({
    ...connectionOptions,
    connectTimeout: CONNECT_LIMIT_MS,
  }).catch((error: Error) => {
    throw unreachable(`no Temporal at ${address}: ${error.message}`);
  });
  try {
    // The record of a large pipeline is offloaded to storage.
    const dataConverter = dataConverterOf(openStorage(settings));
    const client = new Client({
      ...{ connection: followTime(connection), namespace, dataConverter },
      identity: `${userName()}@${hostname()}`,
      interceptors: { workflow: [readableMemos(dataConverter)] },
    });
    return await run(client);
  } catch (error) {
    if (isUnreachable(error))
      throw unreachable(`Temporal at ${address} does not answer: ${temporalMessage(error)}`);
    if (isDenied(error)) throw unreachable(temporalMessage(error));
    throw error;
  } finally {
    await connection.close();
  }
}

function unreachable(message: string): CommandFailure {
  return new CommandFailure(message, EXIT.unreachable);
}

/** A container's user may have no name. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? 'unknown');
  }
}
