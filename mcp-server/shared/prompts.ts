/** No prompts exist and no capability declares them, but clients ask anyway, and some take an error for a broken server. */
import type { ProtocolError } from '@modelcontextprotocol/server';
import { invalidParams } from './protocol-error.js';

export const PROMPT_METHODS: readonly string[] = ['prompts/list', 'prompts/get'];

export const NO_PROMPTS = { prompts: [] };

/** -32602 (specs: 2025-11-25 and 2026-07-28 server/prompts, "Error Handling": "Invalid prompt name"). */
export function unknownPrompt(name: unknown): ProtocolError {
  const shown = JSON.stringify(name) ?? 'none';
  return invalidParams(`params.name: unknown prompt ${shown}; this server has no prompts`);
}
