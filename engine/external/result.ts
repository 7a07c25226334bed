/** Result of an external workflow, in any SDK's encoding. */
import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import { parseKeepingDigits } from '../../operations/json-text.js';

const BINARY = 'binary/plain';
const JSON_ENCODINGS: ReadonlySet<string> = new Set(['json/plain', 'json/protobuf']);

export function externalOutcome(payload: Payload): { result?: unknown; problem?: string } {
  const encoding = encodingOf(payload);
  const data = Buffer.from(payload.data ?? []);
  if (encoding === BINARY)
    return { result: { encoding: 'base64', bytes: data.length, data: data.toString('base64') } };
  if (!JSON_ENCODINGS.has(encoding) && encoding !== 'binary/null')
    return {
      problem: `it is encoded as ${encoding || 'nothing known'}, for which this server has no codec`,
    };
  try {
    return { result: resultIn(payload) };
  } catch {
    return { problem: `it is marked as ${encoding}, but isn't JSON` };
  }
}

/** A result in JSON or null. Integers that JavaScript can't hold come as strings. @throws if it isn't JSON */
export function resultIn(payload: Payload): unknown {
  // Protobuf's JSON needs no message types.
  return JSON_ENCODINGS.has(encodingOf(payload))
    ? parseKeepingDigits(Buffer.from(payload.data ?? []).toString('utf8'))
    : defaultPayloadConverter.fromPayload(payload);
}

function encodingOf({ metadata }: Payload): string {
  return Buffer.from(metadata?.['encoding'] ?? []).toString();
}
