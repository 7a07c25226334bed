/** Result of an external workflow, in whatever way its SDK has encoded it. */
import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import { parseKeepingDigits } from '../../operations/json-text.js';

/** Encoding of payloads that are bytes. */
const BINARY = 'binary/plain';
/** Encodings whose data is JSON. */
const JSON_ENCODINGS: ReadonlySet<string> = new Set(['json/plain', 'json/protobuf']);

/**
 * @returns the result, or why it can't be read
 */
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

/** A result in JSON or null. Integers of other languages that JavaScript can't hold come as strings. @throws if it isn't that */
export function resultIn(payload: Payload): unknown {
  // Protobuf's JSON is JSON: its message types are not needed to read it.
  return JSON_ENCODINGS.has(encodingOf(payload))
    ? parseKeepingDigits(Buffer.from(payload.data ?? []).toString('utf8'))
    : defaultPayloadConverter.fromPayload(payload);
}

function encodingOf({ metadata }: Payload): string {
  return Buffer.from(metadata?.['encoding'] ?? []).toString();
}
