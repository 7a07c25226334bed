/**
 * Resource links as text. Not every client takes `resource_link` blocks: some refuse the whole result, others hand the
 * block to a model API that refuses it. So links go to clients that are known to take them, and text to all others.
 */
import type { ContentBlock, ResourceLink } from '@modelcontextprotocol/server';
import type { Settings } from '../../platform/config.js';
import { supportsResourceLinks } from './known-clients.js';

/** Whether results have links: by what is known of the client, or the same for all. */
export type ResourceLinksSetting = Settings['resourceLinks'];

/**
 * Gives messages their form for one client.
 *
 * @param isInVersion does the negotiated protocol version have `resource_link`? Default: true
 * @returns what turns the links of a result, or of a notification's params, into text where the client needs that
 */
export function linkTransform(
  setting: ResourceLinksSetting,
  clientName: string | undefined,
  isInVersion = true,
): <T extends object>(body: T) => T {
  const isTaken = setting === 'always' || (setting === 'auto' && supportsResourceLinks(clientName));
  return isInVersion && isTaken ? (body) => body : linksAsText;
}

/** A result of a call, as far as it matters here. */
interface HasContent {
  content?: unknown;
}

/**
 * Turns the links of a message into text, wherever one of the protocols has the result of a call: in the result of
 * tools/call itself; under `result` (tasks/get, tools/async/result, notifications/tasks, notifications/tool_result);
 * under `data.result` of a two-stage job that is complete, and in the structured content that says the same.
 *
 * @param body the result of a request, or the params of a notification
 */
function linksAsText<T extends object>(body: T): T {
  const { result, data, structuredContent } = body as Record<string, unknown>;
  const isJob = isObject(data) && typeof data['job_id'] === 'string';
  return {
    ...contentAsText(body),
    ...(isObject(result) ? { result: contentAsText(result) } : {}),
    ...(isJob ? { data: jobAsText(data) } : {}),
    ...(isJob && isObject(structuredContent) && isObject(structuredContent['data'])
      ? { structuredContent: { ...structuredContent, data: jobAsText(structuredContent['data']) } }
      : {}),
  };
}

function jobAsText(job: Record<string, unknown>): Record<string, unknown> {
  return isObject(job['result']) ? { ...job, result: contentAsText(job['result']) } : job;
}

/** A link becomes a line of text, unless a text of the same result names its address already. */
function contentAsText<T extends HasContent>(result: T): T {
  if (!Array.isArray(result.content)) return result;
  const blocks = result.content as ContentBlock[];
  if (!blocks.some(({ type }) => type === 'resource_link')) return result;
  const texts = blocks.flatMap((block) => (block.type === 'text' ? [block.text] : []));
  const content = blocks.flatMap((block): ContentBlock[] => {
    if (block.type !== 'resource_link') return [block];
    if (texts.some((text) => namesAddress(text, block.uri))) return [];
    const text = linkLine(block);
    texts.push(text);
    return [{ type: 'text', text }];
  });
  return { ...result, content };
}

/** Does a text name this address, and not one that only begins like it? */
function namesAddress(text: string, uri: string): boolean {
  for (let at = text.indexOf(uri); at >= 0; at = text.indexOf(uri, at + 1)) {
    const rest = text.slice(at + uri.length, at + uri.length + 2);
    // Punctuation ends an address only where none of it follows.
    if (!/^([\w~%/?#&=-]|[.!*'(),;:@+$][\w~%/?#&=-])/.test(rest)) return true;
  }
  return false;
}

function linkLine({ name, uri, mimeType, size }: ResourceLink): string {
  const facts = [mimeType, size === undefined ? undefined : `${size} bytes`].filter(Boolean).join(', ');
  return `${name}: ${uri}${facts ? ` (${facts})` : ''}`;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
