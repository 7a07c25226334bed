/**
 * Files of the audit log: `20261123T155012345Z-4711-3f0c6b.0001.jsonl`. Each process writes its own, so a kill can cut off only
 * its last line.
 */
import { randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

const FILE = /^(\d{8}T\d{9}Z-\d+-[0-9a-f]{6})\.(\d{4,})\.jsonl$/;

/** Start time, PID, and random digits because processes in containers share PIDs. */
export function newFilesName(nowMs: number, pid: number): string {
  return `${new Date(nowMs).toISOString().replaceAll(/[-:.]/g, '')}-${pid}-${randomBytes(3).toString('hex')}`;
}

export function auditFilePath(folder: string, name: string, part: number): string {
  return join(folder, `${name}.${String(part).padStart(4, '0')}.jsonl`);
}

/** Paths of the log's files by process, processes by start time, and files in the order written. */
export function auditFilesIn(folder: string): string[][] {
  const processes = new Map<string, { path: string; part: number }[]>();
  for (const file of readdirSync(folder).sort()) {
    const [, name, part] = FILE.exec(file) ?? [];
    if (name === undefined) continue;
    const files = processes.get(name) ?? [];
    files.push({ path: join(folder, file), part: Number(part) });
    processes.set(name, files);
  }
  return [...processes.values()].map((files) =>
    files.sort((one, other) => one.part - other.part).map(({ path }) => path),
  );
}
