/** Converts a YAML document to JSON data, with the place of each part in the text. */
import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type Document,
  type Node,
  type Pair,
  type Scalar,
  type YAMLMap,
} from 'yaml';
import { inexactNumberMessage } from '../../operations/json/json-text.js';
import { isBuiltIn } from '../names.js';
import { formatKeyPath, type KeyPath, type Place } from './problems.js';

/** Maximum size of a file, in bytes; its expanded aliases may add as much again. */
export const MAX_FILE_BYTES = 1024 * 1024;

export type ReportAt = (offset: number, message: string) => void;

export interface YamlData {
  value: unknown;
  /** Offset of a key or value in the text; if missing, where it would have to be. */
  offsetOf(path: KeyPath, at: Place): number;
  /** Source text of a scalar: `1.10`. */
  sourceOf(path: KeyPath): string | undefined;
  /** Whether this key or value has an expression; its other problems aren't reported then. */
  isExpression(offset: number): boolean;
}

type MapPair = Pair<Node, Node | null>;

/** Reads a document recursively, so you have to limit its depth. */
export class YamlReader implements YamlData {
  readonly value: unknown;
  readonly #root: Node | null;
  readonly #anchors = new Map<string, Node>();
  readonly #open = new Set<Node>();
  readonly #pairs = new WeakMap<YAMLMap, Map<string, MapPair>>();
  readonly #expressions = new Set<number>();
  readonly #path: (string | number)[] = [];
  #aliasBytes = 0;

  constructor(
    document: Document.Parsed,
    private readonly text: string,
    private readonly report: ReportAt,
  ) {
    this.#root = document.contents;
    this.value = this.#root ? this.#read(this.#root) : null;
  }

  offsetOf(path: KeyPath, at: Place): number {
    let offset = this.#root?.range?.[0] ?? 0;
    const entries = this.#entriesOn(path);
    for (const { key, value } of entries) offset = startOf(key ?? value) ?? offset;
    const last = entries.at(-1);
    if (at === 'key' || !last || entries.length < path.length) return offset;
    return this.#within(last.value, at) ?? offset;
  }

  /** The entries of maps and lists that a path leads through, as far as they exist. Those of lists have no key. */
  #entriesOn(path: KeyPath): { key?: Node; value: Node | null }[] {
    const entries: { key?: Node; value: Node | null }[] = [];
    let node = this.#root;
    for (const step of path) {
      const target = node && this.#target(node);
      const entry: { key?: Node; value: Node | null } | undefined = isMap(target)
        ? this.#pairs.get(target)?.get(String(step))
        : isSeq(target) && target.items[step as number]
          ? { value: target.items[step as number] as Node }
          : undefined;
      if (!entry) break;
      entries.push(entry);
      node = entry.value;
    }
    return entries;
  }

  /** Start of a value, or of a text in it if the file contains that text literally. */
  #within(node: Node | null, at: Place): number | undefined {
    const start = startOf(node);
    if (typeof at === 'string' || !node) return start;
    const [from = 0, to = 0] = this.#target(node)?.range ?? [];
    const found = this.text.slice(from, to).indexOf(at.text);
    return found < 0 ? start : from + found;
  }

  sourceOf(path: KeyPath): string | undefined {
    const entries = this.#entriesOn(path);
    const node = entries.length === path.length ? entries.at(-1)?.value : undefined;
    const target = node && this.#target(node);
    return isScalar(target) ? target.source : undefined;
  }

  isExpression(offset: number): boolean {
    return this.#expressions.has(offset);
  }

  #target(node: Node): Node | undefined {
    return isAlias(node) ? this.#anchors.get(node.source) : node;
  }

  #read(node: Node): unknown {
    if (isAlias(node)) return this.#readAlias(node.source, startOf(node) ?? 0);
    if ('anchor' in node && node.anchor) this.#anchors.set(node.anchor, node);
    if (isScalar(node)) return this.#readScalar(node);
    this.#open.add(node);
    try {
      if (isMap(node)) return this.#readMap(node);
      if (isSeq(node)) return node.items.map((item, index) => this.#readAt(index, item as Node));
      return undefined;
    } finally {
      this.#open.delete(node);
    }
  }

  #readAt(key: string | number, node: Node | null): unknown {
    this.#path.push(key);
    try {
      return node ? this.#read(node) : null;
    } finally {
      this.#path.pop();
    }
  }

  #readAlias(name: string, offset: number): unknown {
    const target = this.#anchors.get(name);
    if (!target) {
      const isPattern = this.#path.includes('artifacts');
      const advice = unquotedPattern(this.text, offset, isPattern);
      this.report(offset, advice ?? `*${name}: there is no &${name} before it`);
      return advice === undefined ? null : `*${name}`;
    }
    if (this.#open.has(target)) {
      this.report(offset, `*${name}: expected an alias of another value; it is within &${name} itself`);
      return null;
    }
    const [from = 0, to = 0] = target.range ?? [];
    const isSpent = this.#aliasBytes > MAX_FILE_BYTES;
    this.#aliasBytes += Math.max(16, to - from);
    if (isSpent) return null;
    if (this.#aliasBytes > MAX_FILE_BYTES) {
      this.report(offset, `*${name}: expected aliases of at most 1 MiB when written out; got more`);
      return null;
    }
    return this.#read(target);
  }

  #readMap(map: YAMLMap): Record<string, unknown> {
    const pairs = new Map<string, MapPair>();
    this.#pairs.set(map, pairs);
    const value: Record<string, unknown> = {};
    for (const pair of map.items as MapPair[]) {
      const key = this.#readKey(pair.key);
      if (key === undefined) continue;
      const twice = pairs.get(key);
      if (twice) {
        this.report(startOf(pair.key) ?? 0, `${this.#where(key)}: duplicate key; keep one of them`);
        continue;
      }
      pairs.set(key, pair);
      value[key] = this.#readAt(key, pair.value);
    }
    return value;
  }

  #readKey(node: Node): string | undefined {
    const key = this.#target(node);
    const offset = startOf(node) ?? 0;
    if (!isScalar(key)) {
      this.report(
        offset,
        `${this.#where()}: expected a key that is text; got ${isMap(key) ? 'a map' : 'a list'}`,
      );
      return undefined;
    }
    const name = typeof key.value === 'string' ? key.value : (key.source ?? String(key.value));
    if (name === '<<' && key.type === 'PLAIN') {
      this.report(offset, `${this.#where(name)}: YAML 1.2 has no merge keys; repeat the keys`);
      return undefined;
    }
    if (isBuiltIn(name)) {
      this.report(offset, `${this.#where(name)}: the name is reserved; choose another`);
      return undefined;
    }
    this.#findExpressions(key, this.#where(name));
    return name;
  }

  #readScalar(node: Scalar): unknown {
    const value = typeof node.value === 'bigint' ? Number(node.value) : node.value;
    this.#findExpressions(node, this.#where());
    const refused =
      (typeof value === 'number' && !Number.isFinite(value) && 'a number that JSON cannot represent') ||
      (typeof value === 'string' && value.includes('\0') && 'a NUL, which no variable or script can contain');
    const at = startOf(node) ?? 0;
    if (refused) {
      this.report(at, `${this.#where()}: expected a value that JSON can hold; got ${refused}`);
      return typeof value === 'number' ? 0 : '';
    }
    if (this.#isInexact(node))
      this.report(at, `${this.#where()}: ${inexactNumberMessage(node.source!, 'write')}`);
    return value;
  }

  /** Whether a number differs from the file's. Variables' numbers are kept as written. */
  #isInexact({ value, source = '' }: Scalar): boolean {
    if (isVariable(this.#path)) return false;
    if (typeof value === 'bigint') return !Number.isSafeInteger(Number(value));
    return value === 0 && /^[^eE]*[1-9]/.test(source);
  }

  #findExpressions(node: Scalar, where: string): void {
    const [from = 0, to = 0] = node.range ?? [];
    if (this.#expressions.has(from)) return;
    const source = this.text.slice(from, to);
    for (const { offset, message } of expressionsIn(source)) {
      this.#expressions.add(from);
      this.report(from + offset, `${where}: ${message}`);
    }
  }

  #where(key?: string): string {
    return formatKeyPath(key === undefined ? this.#path : [...this.#path, key]) || 'the file';
  }
}

/** Whether a path leads to a variable in `env`, at any level. */
function isVariable(path: KeyPath): boolean {
  const isInJob = path[0] === 'jobs' && (path.length === 4 || (path.length === 6 && path[2] === 'steps'));
  return path.at(-2) === 'env' && (path.length === 2 || isInJob);
}

/** Finds `${{ }}`: pipelines have no expression language. */
export function* expressionsIn(text: string): Generator<{ offset: number; message: string }> {
  for (let offset = text.indexOf('${{'); offset >= 0; offset = text.indexOf('${{', offset + 3)) {
    const [content = ''] = text.slice(offset + 3, offset + 60).split(/\}\}|\$\{\{|\n/);
    const shown = content.trim() ? `\${{ ${content.trim()} }}` : '${{';
    const message = `${shown}: there are no expressions; use variables in the script: $INPUT_..., secrets and \`env\``;
    yield { offset, message };
  }
}

function startOf(node: Node | null | undefined): number | undefined {
  const [from, to] = node?.range ?? [];
  return from === to ? undefined : from;
}

/** A value that begins with `*` or `!`, after the start of an item or a value. */
const PATTERN =
  /(?<=(?:^[ \t]*|[ \t])-[ \t]+|[[,][ \t]*|:[ \t]+)[*!](?:\[[^\]\n]*\]|\{[^}\n]*\}|[^\s,[\]{}'"])*/gm;

/** Number of characters to read before and after a place. */
const REACH = 300;

/** A pattern, not the name of an anchor or a tag. */
const GLOB = /^[*!].*[^\w:-]/;

/**
 * Advice for a text value that begins with `*` or `!`; undefined for other text. To YAML, `*.tgz` is an alias, and `!*.map` a tag.
 *
 * @param offset of a place in the value
 * @param isPattern whether a pattern is expected there. Default: only where it looks like one
 */
export function unquotedPattern(text: string, offset: number, isPattern = false): string | undefined {
  // Reads only nearby text: a line may be as long as the file, and have as many mistakes.
  const before = text
    .slice(Math.max(0, offset - REACH), offset)
    .split('\n')
    .at(-1)!;
  const [after = ''] = text.slice(offset, offset + REACH).split('\n', 1);
  for (const { 0: found, index } of (before + after).matchAll(PATTERN)) {
    if (before.length < index || before.length > index + found.length) continue;
    if (isPattern || found === '*' || GLOB.test(found))
      return `text that begins with ${found[0]} needs quotes: '${found}'`;
  }
  return undefined;
}
