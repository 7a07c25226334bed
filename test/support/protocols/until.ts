/** Waits on an operation by one protocol's readings. */
import { eventually } from '../../stack/cli-process.js';
import type { ProtocolClient, Reading } from './client.js';

/** Waits until a reading holds. @param what for the message of the error, after the client's name */
export function untilReading(
  client: ProtocolClient,
  what: string,
  token: string,
  holds: (reading: Reading) => unknown,
): Promise<Reading> {
  return eventually(`${client.name}: ${what}`, async () => {
    const reading = await client.read(token);
    return reading && (await holds(reading)) ? reading : undefined;
  });
}

/** Waits until the operation is over by the protocol. */
export function untilOver(client: ProtocolClient, token: string): Promise<Reading> {
  return untilReading(client, 'it is over', token, ({ isOver }) => isOver);
}
