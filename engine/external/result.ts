/** Result of an external workflow, in whatever way its SDK has encoded it. */
import { defaultPayloadConverter, type Payload } from '@temporalio/common';

/** Encoding of payloads that are bytes. */
const BINARY = 'binary/plain';
/** Encodings whose data is JSON. */
const JSON_ENCODINGS: ReadonlySet<string> = new Set(['json/plain', 'json/protobuf']);

/**
 * @returns the result, or why it can't be read
 */
export function externalOutcome(payload: Payload): { result?: unknown; problem?: string } {
  const encoding = Buffer.from(payload.metadata?.['encoding'] ?? []).toString();
  const data = Buffer.from(payload.data ?? []);
  if (encoding === BINARY)
    return { result: { encoding: 'base64', bytes: data.length, data: data.toString('base64') } };
  if (!JSON_ENCODINGS.has(encoding) && encoding !== 'binary/null')
    return {
      problem: `it is encoded as ${encoding || 'nothing known'}, for which this server has no codec`,
    };
  try {
    // Protobuf's JSON is JSON: its message types are not needed to read it.
    const result = JSON_ENCODINGS.has(encoding)
      ? (JSON.parse(data.toString('utf8')) as unknown)
      : defaultPayloadConverter.fromPayload(payload);
    return { result };
  } catch {
    return { problem: `it is marked as ${encoding}, but isn't JSON` };
  }
}
