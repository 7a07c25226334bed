/** Requests to the company's systems, and which of their failures are worth another attempt. */
import { ApplicationFailure } from '@temporalio/activity';
import { cancellationSignal } from 'longhaul/activity';

/** How long a system may take to answer; the next attempt repeats the request under the same key. */
const ANSWER_LIMIT_MS = 10_000;

/** Type of a system's definite refusal: nothing was created, and another attempt can't change that. */
const REFUSED = 'Refused';

export function isRefusal(error: unknown): boolean {
  return error instanceof ApplicationFailure && error.type === REFUSED;
}

/** Creates a record once for each key. @returns its ID, and whatever else the system answers */
export function post(path: string, key: string, body: object): Promise<{ id: string }> {
  const headers = { 'content-type': 'application/json', 'idempotency-key': key };
  return send(path, { method: 'POST', headers, body: JSON.stringify(body) }) as Promise<{ id: string }>;
}

export function get(path: string, id: string): Promise<unknown> {
  return send(`${path}/${encodeURIComponent(id)}`, { method: 'GET' });
}

/** Deletes a record, or cancels a job. Repeating it does no harm. */
export async function remove(path: string, id: string): Promise<void> {
  await send(`${path}/${encodeURIComponent(id)}`, { method: 'DELETE' });
}

async function send(path: string, init: RequestInit): Promise<unknown> {
  const [system] = path.split('/');
  const limit = AbortSignal.timeout(ANSWER_LIMIT_MS);
  try {
    const address = `${process.env['VENDOR_SYSTEMS'] ?? 'http://127.0.0.1:7442'}/${path}`;
    const response = await fetch(address, {
      ...init,
      signal: AbortSignal.any([cancellationSignal(), limit]),
    });
    if (response.status === 204) return undefined;
    const answer = (await response.json()) as { problem?: string };
    if (response.ok) return answer;
    const message = `${system} answered ${response.status}: ${answer.problem}`;
    // A server's fault, or too many requests, may pass; everything else is about the request.
    if (response.status >= 500 || response.status === 429) throw new Error(message);
    throw ApplicationFailure.nonRetryable(message, REFUSED);
  } catch (error) {
    if (limit.aborted)
      throw new Error(`${system} did not answer within ${ANSWER_LIMIT_MS / 1000} s`, { cause: error });
    if (error instanceof TypeError)
      throw new Error(`${system} can't be reached: ${(error.cause as Error)?.message}`, { cause: error });
    throw error;
  }
}
