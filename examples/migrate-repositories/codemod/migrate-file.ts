import { Node, type SourceFile } from 'ts-morph';
import { nodeApi } from './node-api.js';
import type { Edit, Rule } from './rule.js';
import { buffer } from './rules/buffer.js';
import { fsExists } from './rules/fs-exists.js';
import { urlParse } from './rules/url-parse.js';
import { utilIs } from './rules/util-is.js';
import { unusedImports } from './unused-import.js';

/** Add yours here. */
const RULES: readonly Rule[] = [buffer, fsExists, utilIs, urlParse];

const BY_API = new Map(RULES.flatMap((rule) => rule.apis.map((api) => [api, rule] as const)));
const MEMBERS = new Set([...BY_API.keys()].map((api) => api.split('.').at(-1)!));

export interface Migrated {
  /** The file's new text; undefined if nothing changes. */
  text?: string;
  changes: number;
  /** Places for a person, as `LINE: REASON`. */
  left: string[];
}

export function migrateFile(file: SourceFile): Migrated {
  const edits: Edit[] = [];
  const left: string[] = [];
  let changes = 0;
  const leave = (node: Node, reason: string) => left.push(`${node.getStartLineNumber()}: ${reason}`);
  file.forEachDescendant((node) => {
    const api = deprecatedApi(node);
    const rule = api && BY_API.get(api);
    if (!rule) return;
    const call = node.getParent();
    if ((Node.isCallExpression(call) || Node.isNewExpression(call)) && call.getExpression() === node) {
      const verdict = rule.migrate(call, api);
      if ('left' in verdict) return void leave(call, verdict.left);
      changes += 1;
      edits.push(...verdict.edits);
    } else if (api !== 'Buffer' && Node.isPropertyAccessExpression(node)) {
      leave(node, `${api} is used as a value`);
    }
  });
  if (changes === 0) return { changes, left };
  edits.push(...unusedImports(file, edits, ['util']));
  return { text: applied(file.getFullText(), edits), changes, left };
}

/** API of a name or `object.name` for which there is a rule, perhaps; declarations and parts of imports don't count. */
function deprecatedApi(node: Node): string | undefined {
  if (Node.isPropertyAccessExpression(node)) return MEMBERS.has(node.getName()) ? nodeApi(node) : undefined;
  const parent = node.getParent();
  const isCallee =
    (Node.isCallExpression(parent) || Node.isNewExpression(parent)) && parent.getExpression() === node;
  return Node.isIdentifier(node) && isCallee ? nodeApi(node) : undefined;
}

/** Applies edits from the end, which keeps the positions of the others. */
function applied(text: string, edits: Edit[]): string {
  const ordered = edits.toSorted((a, b) => b.from - a.from || b.to - a.to);
  return ordered.reduce(
    (result, edit) => result.slice(0, edit.from) + edit.text + result.slice(edit.to),
    text,
  );
}
