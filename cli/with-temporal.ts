/** Commands that connect to Temporal, not to a server. */
import { hostname, userInfo } from 'node:os';
import type { Client } from '@temporalio/client';
import type { Command } from 'commander';
import type { Settings } from '../platform/settings/index.js';
import { withErrorReporting } from './client/command.js';
import { EXIT } from './client/exit-codes.js';
import { CommandFailure } from './failure.js';
import { settingsOf } from './settings-flags.js';

const CONNECT_LIMIT_MS = 5_000;

/**
 * Runs a command with a Temporal client that identifies itself as user and machine.
 *
 * @param without returns fields that --json prints beside the error, if Temporal can't be reached
 * @throws CommandFailure with the exit code `unreachable` if there is no Temporal, or it stops answering
 */
export async function withTemporal(
  command: Command,
  run: (client: Client, settings: Settings) => Promise<void>,
  without: (settings: Settings) => Promise<Record<string, unknown>> = async () => ({}),
): Promise<void> {
  await withErrorReporting(command, async () => {
    const [
      settings,
      { Client, Connection },
      { temporalConnectConfig },
      { dataConverterOf },
      { openStorage },
      { isUnreachable, temporalMessage },
      { followTime },
      { readableMemos },
    ] = await Promise.all([
      settingsOf(command),
      import('@temporalio/client'),
      import('../platform/temporal/connect-config.js'),
      import('../platform/temporal/data-converter.js'),
      import('../platform/storage/index.js'),
      import('../platform/temporal/grpc-errors.js'),
      import('../platform/temporal/time.js'),
      import('../platform/temporal/memo.js'),
    ]);
    const unreachable = async (message: string) =>
      new CommandFailure(message, EXIT.unreachable, await without(settings));
    const config = temporalConnectConfig(settings.home);
    if (!config)
      throw await unreachable(`no Temporal runs in ${settings.home}, and TEMPORAL_ADDRESS names none`);
    const { connectionOptions, namespace = 'default' } = config;
    const { address } = connectionOptions;
    const connection = await Connection.connect({
      ...connectionOptions,
      connectTimeout: CONNECT_LIMIT_MS,
    }).catch(async (error: unknown) => {
      throw await unreachable(`no Temporal at ${address}: ${(error as Error).message}`);
    });
    try {
      // The record of a large pipeline is offloaded to storage.
      const dataConverter = dataConverterOf(openStorage(settings));
      const identity = `${userName()}@${hostname()}`;
      const client = new Client({
        ...{ connection: followTime(connection), namespace, dataConverter, identity },
        interceptors: { workflow: [readableMemos(dataConverter)] },
      });
      await run(client, settings);
    } catch (error) {
      if (!isUnreachable(error)) throw error;
      throw await unreachable(`Temporal at ${address} does not answer: ${temporalMessage(error)}`);
    } finally {
      await connection.close();
    }
  });
}

/** A container's user may have no name. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? 'unknown');
  }
}
