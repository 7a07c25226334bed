/**
 * The language model: any endpoint that speaks the chat completions API of OpenAI. One POST needs no client library, and Temporal does the
 * retries, so that they are seen, last for hours and survive a restart.
 */
import { readFile } from 'node:fs/promises';
import { ApplicationFailure } from '@temporalio/activity';

const TIMEOUT_MS = 5 * 60_000;
const MAX_ANSWER_BYTES = 2 ** 20;
const MAX_RETRY_AFTER_SECONDS = 15 * 60;

export interface ModelSettings {
  /** Base address, such as `https://api.example.com/v1`. */
  url: string;
  model: string;
  /** File that holds the key, as secrets are mounted. Without it no key is sent. */
  keyFile: string | undefined;
}

export interface Message {
  role: 'system' | 'user' | 'assistant';
  content: string;
}

/** Settings of the worker's environment; undefined without RESEARCH_MODEL_URL. @throws ApplicationFailure BadModelSettings */
export function modelSettings(env: NodeJS.ProcessEnv = process.env): ModelSettings | undefined {
  const { RESEARCH_MODEL_URL: url, RESEARCH_MODEL: model, RESEARCH_MODEL_KEY_FILE: keyFile } = env;
  if (!url) return undefined;
  const problem =
    !URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)
      ? 'RESEARCH_MODEL_URL: expected an address with http or https'
      : !model && 'RESEARCH_MODEL: missing; expected the name of a model';
  if (problem) throw ApplicationFailure.nonRetryable(problem, 'BadModelSettings');
  return { url: url.replace(/\/+$/, ''), model: model!, keyFile: keyFile || undefined };
}

/**
 * Sends one request.
 *
 * @returns the text of the answer; undefined if it has none, or isn't of the API. Anything else of it, such as calls of tools, is ignored
 * @throws ApplicationFailure: final if the endpoint refuses the request; else retryable, with the time that `Retry-After` asks for
 */
export async function chat(
  settings: ModelSettings,
  messages: Message[],
  signal: AbortSignal,
): Promise<string | undefined> {
  const { url, model } = settings;
  const address = `${url}/chat/completions`;
  const response = await fetch(address, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(await authorization(settings)) },
    body: JSON.stringify({ model, messages }),
    // The key isn't carried to another address.
    redirect: 'error',
    signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
  }).catch((error: Error) => {
    if (signal.aborted) throw signal.reason;
    const { message } = (error.cause ?? error) as Error;
    throw ApplicationFailure.retryable(
      `the model endpoint ${host(url)} can't be reached: ${message}`,
      'ModelUnreachable',
    );
  });
  if (!response.ok) {
    await response.body?.cancel();
    throw refusal(response, settings);
  }
  return contentOf(await limitedText(response));
}

async function authorization({ keyFile }: ModelSettings): Promise<Record<string, string>> {
  if (keyFile === undefined) return {};
  const key = await readFile(keyFile, 'utf8').catch((error: NodeJS.ErrnoException) => {
    const message = `RESEARCH_MODEL_KEY_FILE can't be read (${error.code})`;
    throw ApplicationFailure.nonRetryable(message, 'BadModelSettings');
  });
  return { authorization: `Bearer ${key.trim()}` };
}

/** Its message has nothing of the answer's body, in which some endpoints repeat the key. */
function refusal({ status, headers }: Response, { url, model, keyFile }: ModelSettings): ApplicationFailure {
  const endpoint = `the model endpoint ${host(url)}`;
  if (status === 401 || status === 403) {
    const key =
      keyFile === undefined
        ? 'asks for a key: set RESEARCH_MODEL_KEY_FILE'
        : 'refuses the key of RESEARCH_MODEL_KEY_FILE';
    return ApplicationFailure.nonRetryable(`${endpoint} ${key} (HTTP ${status})`, 'ModelKeyRefused');
  }
  if (status === 429 || status >= 500) {
    const seconds = retryAfter(headers.get('retry-after'));
    return ApplicationFailure.create({
      message: `${endpoint} is busy (HTTP ${status})`,
      type: 'ModelBusy',
      ...(seconds === undefined ? {} : { nextRetryDelay: `${seconds}s` }),
    });
  }
  const message = `${endpoint} refuses the request for model ${JSON.stringify(model)} (HTTP ${status})`;
  return ApplicationFailure.nonRetryable(message, 'ModelRequestRefused');
}

/** Seconds to wait, by a number or a date. */
function retryAfter(header: string | null): number | undefined {
  if (header === null) return undefined;
  const seconds = /^\d+$/.test(header) ? Number(header) : (Date.parse(header) - Date.now()) / 1000;
  return Number.isFinite(seconds)
    ? Math.min(Math.max(1, Math.ceil(seconds)), MAX_RETRY_AFTER_SECONDS)
    : undefined;
}

async function limitedText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > MAX_ANSWER_BYTES) return '';
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function contentOf(body: string): string | undefined {
  try {
    const { choices } = JSON.parse(body) as { choices?: { message?: { content?: unknown } }[] };
    const content = choices?.[0]?.message?.content;
    return typeof content === 'string' ? content : undefined;
  } catch {
    return undefined;
  }
}

function host(url: string): string {
  return new URL(url).host;
}
