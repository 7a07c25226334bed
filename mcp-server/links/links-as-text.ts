/**
 * Resource links as text. Some clients refuse a result with `resource_link` blocks, others pass the block to a model API that
 * refuses it. Only clients that are known to support links get them. All others get text.
 */
import type { ContentBlock, ResourceLink } from '@modelcontextprotocol/server';
import { isObject } from '../../operations/json/is-object.js';
import type { Settings } from '../../platform/settings/index.js';
import { inlineData } from '../call/as-data.js';
import { supportsResourceLinks } from '../call/known-clients.js';

/** Whether results have links: depending on the client, or the same for all. */
export type ResourceLinksSetting = Settings['resourceLinks'];

/**
 * @param isInVersion whether the negotiated protocol version has `resource_link`. Default: true
 * @returns converts links in a result, or in a notification's params, to text if the client needs that
 */
export function linkTransform(
  setting: ResourceLinksSetting,
  clientName: string | undefined,
  isInVersion = true,
): <T extends object>(body: T) => T {
  const isTaken = setting === 'always' || (setting === 'auto' && supportsResourceLinks(clientName));
  return isInVersion && isTaken ? (body) => body : linksAsText;
}

interface HasContent {
  content?: unknown;
}

/**
 * Converts links to text wherever a protocol puts a call's result: in the result of tools/call itself; under `result` (tasks/get,
 * tools/async/result, notifications/tasks, notifications/tool_result); under `data.result` of a completed two-stage job, and in the
 * structured content that repeats it.
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

/** Replaces links with lines of text. Omits those with a URI that a text of the same result already has. */
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

/** Whether a text contains this URI, not merely a longer one that begins with it. */
function namesAddress(text: string, uri: string): boolean {
  for (let at = text.indexOf(uri); at >= 0; at = text.indexOf(uri, at + 1)) {
    const rest = text.slice(at + uri.length, at + uri.length + 2);
    // Punctuation belongs to the URI if more of the URI follows.
    if (!/^([\w~%/?#&=-]|[.!*'(),;:@+$][\w~%/?#&=-])/.test(rest)) return true;
  }
  return false;
}

function linkLine({ name, uri, mimeType, size }: ResourceLink): string {
  const facts = [mimeType, size === undefined ? undefined : `${size} bytes`].filter(Boolean).join(', ');
  return inlineData(`${name}: ${uri}${facts ? ` (${facts})` : ''}`);
}
