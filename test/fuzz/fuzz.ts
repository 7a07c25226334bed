/** Sends mutated requests of one protocol to a server, and collects what no protocol allows. */
import { CorpusBuilder, type Entry, type Protocol } from './corpus/entry.js';
import { exchange } from './exchange.js';
import { mutate } from './mutations.js';
import { Random } from '../support/random.js';
import { asCommand, copyRequest, encode, type FuzzRequest } from './request.js';
import { shrink } from './shrink.js';
import { canWait, verdictOn, type Verdict } from './verdict.js';

/** Cases between two rebuilds of the corpus: by then mutated requests have cancelled and deleted its operations. */
const CASES_A_CORPUS = 1_000;
const CONCURRENT = 16;
/** How long any answer may take, in milliseconds. The machine may be busy. */
const PATIENCE_MS = 30_000;
/** The same while a failure is shrunk, in milliseconds. */
const SHRINK_PATIENCE_MS = 5_000;
/** How long this client stays in a wait or a stream, in milliseconds. */
const WAIT_PATIENCE_MS = 300;
const MOST_MUTATIONS = 4;
/** After this many failures the rest is skipped. */
const MOST_FAILURES = 20;

export interface FuzzOptions {
  /** Address of the server that is called, without a path at the end. */
  base: string;
  protocol: Protocol;
  seed: number;
  cases: number;
  /** Number of the first case. Default: 0 */
  from?: number;
  /** Overrides {@link PATIENCE_MS}. */
  patienceMs?: number;
  /** Receives each failure as soon as it is shrunk. */
  sayFailure?: (failure: string) => void;
}

export interface FuzzReport {
  protocol: string;
  cases: number;
  tookMs: number;
  /** Responses by status; `cut` counts waits that this client ended, `closed` connections without a response. */
  statuses: Map<string, number>;
  errorCodes: Map<string, number>;
  accepted: number;
  unknown: number;
  /** Texts with the seed, the case and a command that repeats it. */
  failures: string[];
}

export function emptyReport(protocol: string): FuzzReport {
  const counts = { cases: 0, tookMs: 0, accepted: 0, unknown: 0 };
  return { protocol, ...counts, statuses: new Map(), errorCodes: new Map(), failures: [] };
}

export async function fuzz(options: FuzzOptions): Promise<FuzzReport> {
  const { base, protocol, cases, from = 0 } = options;
  const report = emptyReport(protocol.name);
  const seen = new Set<string>();
  const began = performance.now();
  for (let first = from; first < from + cases; first += CASES_A_CORPUS) {
    const corpus = new CorpusBuilder(base);
    await protocol.build(corpus);
    report.accepted += protocol.operations;
    let next = first;
    const end = Math.min(first + CASES_A_CORPUS, from + cases);
    const work = async () => {
      while (next < end && report.failures.length < MOST_FAILURES)
        await runCase(options, corpus, next++, report, seen);
    };
    await Promise.all(Array.from({ length: CONCURRENT }, work));
  }
  report.tookMs = performance.now() - began;
  return report;
}

/** Different for each protocol and case; close seeds give unrelated cases. */
function seedOf(seed: number, protocol: string, number: number): number {
  let mixed = seed;
  for (const char of `${protocol} ${number}`)
    mixed = (Math.imul(mixed ^ char.charCodeAt(0), 0x01000193) >>> 0) ^ (mixed >>> 15);
  return mixed;
}

/** The choices of a case: of its request, and of each of its mutations. */
export function caseSeeds(seed: number, protocol: string, number: number) {
  const random = new Random(seedOf(seed, protocol, number));
  const mutations = 1 + Math.min(random.below(MOST_MUTATIONS), random.below(MOST_MUTATIONS));
  return { random, mutationSeeds: Array.from({ length: mutations }, () => random.below(2 ** 31)) };
}

async function runCase(
  options: FuzzOptions,
  corpus: CorpusBuilder,
  number: number,
  report: FuzzReport,
  seen: Set<string>,
): Promise<void> {
  const { base, protocol, seed } = options;
  const port = Number(new URL(base).port);
  const { random, mutationSeeds } = caseSeeds(seed, protocol.name, number);
  const entry = random.pick(corpus.entries);
  const build = (seeds: readonly number[]) => {
    const request = copyRequest(entry.request);
    const context = {
      harvest: corpus.harvest,
      other: (chooser: Random) => copyRequest(chooser.pick(corpus.entries).request),
    };
    for (const one of seeds) if (!request.bytes) mutate(one, request, context);
    return request;
  };
  const send = (one: FuzzRequest, patienceMs = options.patienceMs ?? PATIENCE_MS) =>
    sendAndJudge(port, entry, one, patienceMs, report);
  const request = build(mutationSeeds);
  const { problems } = await send(request);
  report.cases += 1;
  const [problem] = problems;
  if (problem === undefined) return;
  const kind = kindOf(problem);
  if (seen.has(kind)) return;
  seen.add(kind);
  const smallest = await shrink(mutationSeeds, build, async (smaller) =>
    (await send(smaller, Math.min(SHRINK_PATIENCE_MS, options.patienceMs ?? PATIENCE_MS))).problems.some(
      (one) => kindOf(one) === kind,
    ),
  );
  const failure = [
    `${protocol.name}, ${entry.name}: ${problem}`,
    `  npm run fuzz -- --protocol ${protocol.name} --seed ${seed} --from ${number} --cases 1`,
    `  ${asCommand(smallest, port)}`,
  ].join('\n');
  report.failures.push(failure);
  options.sayFailure?.(failure);
}

/** Failures that differ only in values are one. */
function kindOf(problem: string): string {
  return problem.replaceAll(/"id":("(?:[^"\\]|\\.)*"|[^,}]*)|[0-9a-f]{16,}/g, '').slice(0, 160);
}

async function sendAndJudge(
  port: number,
  { mayWait }: Entry,
  request: FuzzRequest,
  patienceMs: number,
  report: FuzzReport,
): Promise<Verdict> {
  const waits = mayWait || canWait(request);
  const exchanged = await exchange(port, encode(request), {
    patienceMs: waits ? Math.min(WAIT_PATIENCE_MS, patienceMs) : patienceMs,
    streamPatienceMs: waits || request.method === 'GET' ? WAIT_PATIENCE_MS : patienceMs,
    isHalfClosed: request.bytes !== undefined || request.isFramed === true,
  });
  const verdict = verdictOn(request, exchanged, waits);
  const count = (counts: Map<string, number>, key: string) => counts.set(key, (counts.get(key) ?? 0) + 1);
  for (const { status } of exchanged.responses) count(report.statuses, String(status));
  if (exchanged.isCut) count(report.statuses, 'cut');
  else if (exchanged.responses.length === 0) count(report.statuses, 'closed');
  for (const code of verdict.errorCodes) count(report.errorCodes, String(code));
  report.accepted += verdict.accepted;
  report.unknown += verdict.unknown;
  return verdict;
}
