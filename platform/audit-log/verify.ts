/** Checks an audit log: that no line was edited, removed, moved, inserted or cut off. */
import { existsSync } from 'node:fs';
import { auditFile, auditFilesIn, type AuditFile } from './files.js';
import {
  auditKeyOf,
  macOf,
  NO_PREVIOUS,
  parseLine,
  type AuditLine,
  type ChainHead,
  type FollowedHead,
} from './line.js';
import { linesOf } from './read.js';

/** A place where the log isn't as it was written. */
export interface AuditProblem {
  file: string;
  /** From 1; missing where a whole file is meant. */
  line?: number;
  expected: string;
  came: string;
}

export interface VerifiedChain extends ChainHead {
  files: number;
  lines: number;
  /** Times of its first and last line; empty for a chain without lines. */
  from: string;
  to: string;
  /** `closed` by its process; else it still runs, or was killed. */
  end: 'closed' | 'open' | 'torn';
  /** Lines that the process could not write, as it says itself. */
  missing: number;
}

export interface Verification {
  chains: VerifiedChain[];
  problems: AuditProblem[];
  /** Files in the folder that are not the log's. */
  others: string[];
  /** Whether the MACs were checked. */
  areMacsChecked: boolean;
}

export interface VerifyOptions {
  /** Secret of the home; without it, MACs aren't checked. */
  secret?: Buffer | undefined;
  /** Hashes that lines of the log must have, as kept elsewhere. */
  heads?: readonly string[];
  /** Time before which files may have been removed, ISO 8601. */
  removedBefore?: string | undefined;
}

/** @throws an error of the file system */
export async function verifyAuditLog(folder: string, options: VerifyOptions = {}): Promise<Verification> {
  const { chains, others } = auditFilesIn(folder);
  const check = new Check(folder, options);
  // Read first: a chain that begins meanwhile refers to lines that are then there.
  for (const [, files] of chains) await check.collectReferences(files[0]!);
  for (const [chain, files] of chains) await check.chain(chain, files);
  const result = check.result([...chains.keys()]);
  if (chains.size === 0)
    result.problems.push({ file: folder, expected: 'files of an audit log', came: 'no such file' });
  return { ...result, others };
}

const AFTER_END = { expected: 'no line after log.closed' };

class Check {
  readonly #chains: VerifiedChain[] = [];
  readonly #problems: AuditProblem[] = [];
  readonly #key: Buffer | undefined;
  readonly #heads: Set<string>;
  /** Chains whose first files are missing. */
  readonly #cutChains = new Set<string>();
  /** Hashes to be found -> the chain's line, and the file that refers to it. */
  readonly #references = new Map<string, FollowedHead & { file: string }>();

  constructor(
    private readonly folder: string,
    private readonly options: VerifyOptions,
  ) {
    this.#key = options.secret && auditKeyOf(options.secret);
    this.#heads = new Set(options.heads);
  }

  async collectReferences({ path, name }: AuditFile): Promise<void> {
    for await (const { text, isTorn } of linesOf(path)) {
      const line = isTorn ? undefined : parseLine(text)?.line;
      for (const head of line?.follows ?? []) this.#references.set(head.hash, { ...head, file: name });
      break;
    }
  }

  async chain(chain: string, files: AuditFile[]): Promise<void> {
    const state = new ChainState(chain);
    const isWhole = files[0]!.part === 1;
    if (!isWhole) this.#cutChains.add(chain);
    if (!isWhole && !this.#mayBeRemoved(await firstTimeOf(files[0]!)))
      this.#problems.push({
        file: auditFile(this.folder, chain, 1).name,
        expected: 'the first file of the chain',
        came: 'no such file',
      });
    let part = files[0]!.part;
    for (const file of files) {
      for (; part < file.part; part++) this.#missingPart(chain, part);
      part = file.part + 1;
      await this.#file(state, file, file === files.at(-1), !isWhole && file === files[0]);
    }
    if (state.isRotated && !existsSync(auditFile(this.folder, chain, part).path))
      this.#missingPart(chain, part);
    this.#chains.push(state.verified(files.length));
  }

  result(chains: string[]): Omit<Verification, 'others'> {
    for (const { chain, sequence, hash, file, time } of this.#references.values()) {
      const isThere = chains.includes(chain);
      const isWhole = isThere && !this.#cutChains.has(chain);
      if (!isWhole && this.#mayBeRemoved(time)) continue;
      this.#problems.push({
        file: isThere ? chain : auditFile(this.folder, chain, 1).name,
        expected: `line ${sequence} of this chain with the hash ${hash}, to which ${file} refers`,
        came: isThere ? 'no such line' : 'no such file',
      });
    }
    for (const hash of this.#heads)
      this.#problems.push({
        file: this.folder,
        expected: `a line with the hash ${hash}`,
        came: 'no such line',
      });
    return { chains: this.#chains, problems: this.#problems, areMacsChecked: this.#key !== undefined };
  }

  async #file(
    state: ChainState,
    { path, name }: AuditFile,
    isLast: boolean,
    isResumed: boolean,
  ): Promise<void> {
    let isFirst = isResumed;
    for await (const { text, number, isTorn } of linesOf(path)) {
      const parsed = parseLine(text);
      if (isTorn && isLast && !state.isClosed) {
        state.isTorn = true;
        return;
      }
      if (isTorn && state.isClosed) {
        this.#problems.push({ file: name, line: number, ...AFTER_END, came: quoted(text) });
        continue;
      }
      if (!parsed || isTorn) {
        const came = isTorn ? `a line without its end, ${quoted(text)}` : quoted(text);
        this.#problems.push({ file: name, line: number, expected: 'a line of an audit log', came });
        continue;
      }
      if (isFirst) state.resumeAt(parsed.line);
      isFirst = false;
      const problem = this.#line(state, parsed);
      if (problem) this.#problems.push({ file: name, line: number, ...problem });
      state.take(parsed.line);
      this.#heads.delete(parsed.line.hash);
      this.#references.delete(parsed.line.hash);
    }
  }

  /** The first problem of a line; further ones have the same cause. */
  #line(
    state: ChainState,
    { line, computed }: { line: AuditLine; computed: string },
  ): { expected: string; came: string } | undefined {
    const { sequence, previous, hash, mac } = line;
    if (computed !== hash)
      return { expected: `the hash of its text, ${computed}`, came: `${hash}: the line was edited` };
    if (sequence !== state.sequence + 1)
      return {
        expected: `sequence ${state.sequence + 1}`,
        came: `${sequence}: ${displacement(sequence, state)}`,
      };
    if (previous !== state.hash)
      return { expected: `previous ${state.hash}, the hash of the line before`, came: previous };
    if (this.#key && macOf(hash, this.#key) !== mac)
      return {
        expected: `mac ${macOf(hash, this.#key)}`,
        came: `${mac}: the line was written without the secret of this home`,
      };
    if (state.isClosed) return { ...AFTER_END, came: line.event };
    if (sequence === 1 && line.chain !== state.chain)
      return { expected: `chain ${state.chain}, as in the file's name`, came: String(line.chain) };
    return undefined;
  }

  #missingPart(chain: string, part: number): void {
    this.#problems.push({
      file: auditFile(this.folder, chain, part).name,
      expected: 'a file, in which the chain continues',
      came: 'no such file',
    });
  }

  #mayBeRemoved(time: string | undefined): boolean {
    const { removedBefore } = this.options;
    return removedBefore !== undefined && time !== undefined && Date.parse(time) < Date.parse(removedBefore);
  }
}

/** State of a chain as its lines are read. */
class ChainState {
  sequence = 0;
  hash = NO_PREVIOUS;
  isClosed = false;
  isRotated = false;
  isTorn = false;
  last: AuditLine | undefined;
  #first: AuditLine | undefined;
  #lines = 0;
  #missing = 0;

  constructor(readonly chain: string) {}

  /** Begins within the chain, whose earlier files are missing. */
  resumeAt({ sequence, previous }: AuditLine): void {
    this.sequence = sequence - 1;
    this.hash = previous;
  }

  /** Continues after a line as it says itself, also after a problem, so that one change is one problem. */
  take(line: AuditLine): void {
    this.sequence = line.sequence;
    this.hash = line.hash;
    this.last = line;
    this.#first ??= line;
    this.#lines += 1;
    this.#missing += line.event === 'log.gap' ? (line.missing ?? 0) : 0;
    this.isClosed = line.event === 'log.closed';
    if (line.event === 'log.rotated') this.isRotated = true;
    if (line.event === 'log.continued') this.isRotated = false;
  }

  verified(files: number): VerifiedChain {
    return {
      chain: this.chain,
      sequence: this.sequence,
      hash: this.hash,
      files,
      lines: this.#lines,
      from: this.#first?.time ?? '',
      to: this.last?.time ?? '',
      end: this.isTorn ? 'torn' : this.isClosed ? 'closed' : 'open',
      missing: this.#missing,
    };
  }
}

function displacement(sequence: number, { sequence: before }: ChainState): string {
  const missing = sequence - before - 1;
  if (missing <= 0) return 'the line was inserted or moved';
  return missing === 1 ? 'a line was removed or moved' : `${missing} lines were removed or moved`;
}

async function firstTimeOf({ path }: AuditFile): Promise<string | undefined> {
  for await (const { text } of linesOf(path)) return parseLine(text)?.line.time;
  return undefined;
}

function quoted(text: string): string {
  return JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}...` : text);
}
