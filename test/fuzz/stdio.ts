/** The same mutations as lines over standard input, to servers of both revisions. */
import { randomUUID } from 'node:crypto';
import { eventually, type CommandRun } from '../stack/cli-process.js';
import { CorpusBuilder, type Entry } from './corpus/entry.js';
import { revision20260728 } from './corpus/revision-2026-07-28.js';
import { sessions } from './corpus/sessions.js';
import { caseSeeds, emptyReport, type FuzzReport } from './fuzz.js';
import { mutateLine } from './mutations.js';
import { bodyOf, copyRequest } from './request.js';
import type { Random } from '../support/random.js';
import { verdictOnLine } from './verdict.js';

export const STDIO = 'stdio';
/** Lines between two probes. */
const LINES_A_PROBE = 25;
/** Calls are answered within the time in which this many lines are sent. */
const RECENT_LINES = 500;
/** How long a probe may take, in milliseconds. */
const PATIENCE_MS = 60_000;

export interface StdioOptions {
  base: string;
  /** Starts a server over stdio. */
  spawn: () => CommandRun;
  seed: number;
  cases: number;
  from: number;
}

export async function fuzzStdio({ base, spawn, seed, cases, from }: StdioOptions): Promise<FuzzReport> {
  const report = emptyReport(STDIO);
  const began = performance.now();
  for (const protocol of [revision20260728, sessions]) {
    const corpus = new CorpusBuilder(base);
    await protocol.build(corpus);
    report.accepted += protocol.operations;
    const entries = corpus.entries.filter(({ request }) => request.body !== undefined);
    const server = new LineServer(spawn());
    // The first message selects the revision; server/discover doesn't.
    const first = entries.find(({ name }) => /^(tools\/list|initialize)$/.test(name))!;
    await server.exchange([lineOf(first)], lineOf(first));
    const probe = lineOf(entries.find(({ name }) => /tools\/list/.test(name))!);
    // The server of 2026-07-28 takes even numbers, that of sessions odd ones.
    const numbers = Array.from({ length: cases }, (_, index) => from + index).filter(
      (number) => (number % 2 === 0) === (protocol === revision20260728),
    );
    for (let at = 0; at < numbers.length && report.failures.length === 0; at += LINES_A_PROBE) {
      const batch = numbers
        .slice(at, at + LINES_A_PROBE)
        .map((number) => ({ number, line: mutatedLine(entries, corpus.harvest, seed, number) }));
      const problems = await judge(
        server,
        batch.map(({ line }) => line),
        probe,
        report,
      );
      report.cases += batch.length;
      if (problems.length === 0) continue;
      // Which of them it was: each alone, at a new server.
      for (const { number, line } of batch) {
        const alone = new LineServer(spawn());
        await alone.exchange([lineOf(first)], lineOf(first));
        const [own] = await judge(alone, [line], probe, report);
        await alone.end();
        if (own !== undefined) report.failures.push(failureOf(own, seed, number, line));
      }
      if (report.failures.length === 0)
        report.failures.push(
          failureOf(problems[0]!, seed, batch[0]!.number, batch.map(({ line }) => line).join('\n')),
        );
    }
    report.failures.push(...(await server.end()));
  }
  report.tookMs = performance.now() - began;
  return report;
}

function failureOf(problem: string, seed: number, number: number, line: string): string {
  return `${STDIO}: ${problem}\n  npm run fuzz -- --protocol ${STDIO} --seed ${seed} --from ${number} --cases 1\n  ${line.slice(0, 20_000)}`;
}

function lineOf({ request }: Entry): string {
  return bodyOf(request)!.toString();
}

function mutatedLine(entries: Entry[], harvest: string[], seed: number, number: number): string {
  const { random, mutationSeeds } = caseSeeds(seed, STDIO, number);
  const request = copyRequest(random.pick(entries).request);
  const other = (chooser: Random) => copyRequest(chooser.pick(entries).request);
  for (const one of mutationSeeds) mutateLine(one, request, { harvest, other });
  // One line; standard input is written as bytes.
  return bodyOf(request)!.toString('latin1').replaceAll('\n', ' ');
}

async function judge(
  server: LineServer,
  lines: string[],
  probe: string,
  report: FuzzReport,
): Promise<string[]> {
  try {
    const answers = await server.exchange(lines, probe);
    return answers.flatMap((answer) => {
      const { problems, errorCodes, isResult } = verdictOnLine(answer, server.recent);
      // Which line it answers isn't known for sure.
      if (isResult) report.unknown += 1;
      for (const code of errorCodes)
        report.errorCodes.set(String(code), (report.errorCodes.get(String(code)) ?? 0) + 1);
      return problems;
    });
  } catch (error) {
    return [(error as Error).message];
  }
}

class LineServer {
  #read = 0;
  /** Lines that answers may still come for. */
  recent: string[] = [];

  constructor(private readonly run: CommandRun) {}

  /** Sends lines and then a probe; returns what came until the probe was answered, without that answer. */
  async exchange(lines: string[], probe: string): Promise<string[]> {
    const id = randomUUID();
    const { stdin, exitCode } = this.run.process;
    if (exitCode !== null) throw new Error(`the server ended with ${exitCode}: ${this.run.stderr()}`);
    this.recent = [...this.recent, ...lines].slice(-RECENT_LINES);
    for (const line of lines) stdin!.write(Buffer.from(`${line}\n`, 'latin1'));
    stdin!.write(`${JSON.stringify({ ...JSON.parse(probe), id })}\n`);
    await eventually(
      () => `the probe is answered; ${this.run.stderr().slice(-2_000)}`,
      () =>
        this.run.process.exitCode !== null || this.run.stdout().slice(this.#read).includes(`"id":"${id}"`),
      PATIENCE_MS,
    );
    const text = this.run.stdout().slice(this.#read);
    const end = text.lastIndexOf('\n') + 1;
    this.#read += end;
    return text
      .slice(0, end)
      .split('\n')
      .filter((line) => line !== '' && !line.includes(`"id":"${id}"`));
  }

  /** Closes its input. @returns violations */
  async end(): Promise<string[]> {
    this.run.process.stdin!.end();
    const code = await this.run.ended;
    return code === 0 ? [] : [`${STDIO}: the server ended with ${code}: ${this.run.stderr().slice(-2_000)}`];
  }
}
