/** Prometheus as a process, from Debian's package, and its queries. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '../stack/cli-process.js';
import { unpackDebianPackages } from '../support/debian-packages.js';
import { answers, Service } from '../support/service.js';

const PACKAGES = resolve('test/metrics/debian-packages.txt');

/** A series of an answer, with its value. */
export interface Sample {
  metric: Record<string, string>;
  value: number;
}

/** A series over time: pairs of seconds since 1970 and a value. */
export interface Series {
  metric: Record<string, string>;
  values: [seconds: number, value: number][];
}

async function program(name: 'prometheus' | 'promtool'): Promise<string> {
  return join(await unpackDebianPackages('prometheus', PACKAGES), 'usr', 'bin', name);
}

/** Runs promtool in a folder. @returns its output @throws with its output if it fails */
export async function promtool(args: string[], cwd: string): Promise<string> {
  const { stdout, stderr } = await promisify(execFile)(await program('promtool'), args, { cwd });
  return stdout + stderr;
}

export class Prometheus {
  private constructor(
    private readonly service: Service,
    private readonly folder: string,
    private readonly base: string,
  ) {}

  /** @param targets job -> addresses, scraped every second @param rules path of the rules */
  static async start(targets: Record<string, string[]>, rules: string): Promise<Prometheus> {
    const folder = mkdtempSync(join(tmpdir(), 'longhaul-prometheus-'));
    const jobs = Object.entries(targets).map(
      ([job, addresses]) =>
        `  - { job_name: ${job}, static_configs: [{ targets: ${JSON.stringify(addresses)} }] }`,
    );
    const global = 'global: { scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s }';
    const config = [global, `rule_files: ['${resolve(rules)}']`, 'scrape_configs:', ...jobs].join('\n');
    writeFileSync(join(folder, 'prometheus.yml'), config);
    const base = `http://127.0.0.1:${await freePort()}`;
    const service = await Service.start({
      name: 'prometheus',
      folder,
      command: [
        await program('prometheus'),
        `--config.file=${join(folder, 'prometheus.yml')}`,
        `--storage.tsdb.path=${join(folder, 'data')}`,
        `--web.listen-address=${base.slice('http://'.length)}`,
      ],
      isReady: () => answers(`${base}/-/ready`),
    });
    return new Prometheus(service, folder, base);
  }

  /** @throws Error for a query that Prometheus refuses */
  async query(query: string): Promise<Sample[]> {
    const result = await this.#ask('query', { query });
    return result.map(({ metric, value }: any) => ({ metric, value: Number(value[1]) }));
  }

  /**
   * @param range begin and end, in milliseconds since 1970
   * @throws Error for a query that Prometheus refuses
   */
  async range(
    query: string,
    { from, to }: { from: number; to: number },
    stepSeconds: number,
  ): Promise<Series[]> {
    const times = { start: String(from / 1_000), end: String(to / 1_000), step: String(stepSeconds) };
    const result = await this.#ask('query_range', { query, ...times });
    return result.map(({ metric, values }: any) => ({
      metric,
      values: values.map(([seconds, value]: [number, string]) => [seconds, Number(value)]),
    }));
  }

  async #ask(path: string, parameters: Record<string, string>): Promise<any[]> {
    const response = await fetch(`${this.base}/api/v1/${path}?${new URLSearchParams(parameters).toString()}`);
    const { status, error, data } = (await response.json()) as any;
    if (status !== 'success') throw new Error(`${parameters['query']}: ${error}`);
    return data.result;
  }

  async stop(): Promise<void> {
    await this.service.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
