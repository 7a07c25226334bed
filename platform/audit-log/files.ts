/**
 * Files of the audit log. Each process writes a chain of its own, so no two processes write one file; a chain has several files
 * once it is rotated: `20261123T155012345Z-4711-3f0c6b.0001.jsonl`.
 */
import { randomBytes } from 'node:crypto';
import { closeSync, fstatSync, openSync, readdirSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { parseLine, type AuditLine, type FollowedHead } from './line.js';

const FILE = /^(\d{8}T\d{9}Z-\d+-[0-9a-f]{6})\.(\d{4,})\.jsonl$/;
/** More than the longest line, in bytes. */
const LONGEST_LINE_BYTES = 64 * 1024;
/** Largest number of chains that a new chain refers to; the next one refers to the others. */
const MOST_FOLLOWED = 100;

export interface AuditFile {
  path: string;
  name: string;
  chain: string;
  part: number;
}

/** Name of a new chain: the time of its start, the process, and random digits, since processes in containers share PIDs. */
export function newChainName(nowMs: number, pid: number): string {
  return `${new Date(nowMs).toISOString().replaceAll(/[-:.]/g, '')}-${pid}-${randomBytes(3).toString('hex')}`;
}

export function auditFile(folder: string, chain: string, part: number): AuditFile {
  const name = `${chain}.${String(part).padStart(4, '0')}.jsonl`;
  return { path: join(folder, name), name, chain, part };
}

/** Files of the log, chain by chain in the order of their starts, and their other files. */
export function auditFilesIn(folder: string): { chains: Map<string, AuditFile[]>; others: string[] } {
  const chains = new Map<string, AuditFile[]>();
  const others: string[] = [];
  for (const name of readdirSync(folder).sort()) {
    const [, chain, part] = FILE.exec(name) ?? [];
    if (chain === undefined) {
      others.push(name);
      continue;
    }
    const files = chains.get(chain) ?? [];
    files.push({ path: join(folder, name), name, chain, part: Number(part) });
    chains.set(chain, files);
  }
  for (const files of chains.values()) files.sort((one, other) => one.part - other.part);
  return { chains, others };
}

/** Heads of the chains that no other chain refers to: a new chain refers to them, so that none of them can be removed. */
export function unreferencedHeads(folder: string): FollowedHead[] {
  const { chains } = auditFilesIn(folder);
  const heads: FollowedHead[] = [];
  const referenced = new Set<string>();
  for (const [chain, files] of chains) {
    const first = readEnd(files[0]!.path, 'first');
    for (const { hash } of first?.follows ?? []) referenced.add(hash);
    const last = lastOf(files);
    if (last) heads.push({ chain, sequence: last.sequence, hash: last.hash, time: last.time });
  }
  return heads.filter(({ hash }) => !referenced.has(hash)).slice(0, MOST_FOLLOWED);
}

/** The last complete line of a chain: a file without one may follow. */
function lastOf(files: AuditFile[]): AuditLine | undefined {
  for (const { path } of files.toReversed()) {
    const last = readEnd(path, 'last');
    if (last) return last;
  }
  return undefined;
}

/** The first or last complete line of a file; undefined when there is no line, or it is damaged: verify reports that. */
function readEnd(path: string, end: 'first' | 'last'): AuditLine | undefined {
  const file = openSync(path, 'r');
  try {
    const { size } = fstatSync(file);
    const length = Math.min(size, LONGEST_LINE_BYTES);
    const bytes = Buffer.alloc(length);
    const read = readSync(file, bytes, 0, length, end === 'first' ? 0 : size - length);
    // Text after the last line break is a line that was not written whole.
    const lines = bytes.toString('utf8', 0, read).split('\n').slice(0, -1);
    const text = end === 'first' ? lines[0] : lines.at(-1);
    return text === undefined ? undefined : parseLine(text)?.line;
  } finally {
    closeSync(file);
  }
}
