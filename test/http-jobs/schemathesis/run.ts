/** Schemathesis as a command: installed once, at the versions of requirements.txt, into the user's cache. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const folder = resolve('test/http-jobs/schemathesis');
const requirements = join(folder, 'requirements.txt');
const version = createHash('sha256').update(readFileSync(requirements)).digest('hex').slice(0, 12);
const cache = process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache');
const installed = join(cache, 'longhaul', `schemathesis-${version}`);
/** Written last: without it an installation broke off. */
const complete = join(installed, 'complete');

const INSTALL_LIMIT_MS = 240_000;

/** Installs it where that has not been done; needs Python 3 with venv and pip. */
export async function installSchemathesis(): Promise<void> {
  if (existsSync(complete)) return;
  rmSync(installed, { recursive: true, force: true });
  await run('python3', ['-m', 'venv', installed], { timeout: INSTALL_LIMIT_MS });
  const pip = ['install', '--quiet', '--disable-pip-version-check', '-r', requirements];
  await run(join(installed, 'bin/pip'), pip, { timeout: INSTALL_LIMIT_MS });
  writeFileSync(complete, '');
}

/** What every answer is held to. */
const CHECKS = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_headers_conformance',
  'response_schema_conformance',
  'negative_data_rejection',
  'unsupported_method',
  'allow_header_conformance',
];

export interface Outcome {
  exitCode: number;
  /** Requests that were made up and sent. */
  examples: number;
  output: string;
}

/**
 * Runs it against a server's document.
 *
 * @param examples most made-up requests for each operation
 */
export async function runSchemathesis(base: string, examples: number, limitMs: number): Promise<Outcome> {
  const args = [
    '--config-file',
    join(folder, 'schemathesis.toml'),
    'run',
    `${base}/openapi.json`,
    ...['--checks', CHECKS.join(',')],
    ...['--phases', 'coverage,fuzzing,stateful'],
    ...['--max-examples', String(examples)],
    ...['--workers', '2', '--request-timeout', '60', '--seed', '1'],
    ...['--suppress-health-check', 'all', '--warnings', 'off', '--continue-on-failure', '--no-color'],
  ];
  // It leaves notes of what it has seen where it runs.
  const cwd = mkdtempSync(join(tmpdir(), 'longhaul-schemathesis-'));
  const ran = await run(join(installed, 'bin/schemathesis'), args, {
    cwd,
    timeout: limitMs,
    maxBuffer: 64 * 1024 * 1024,
  }).catch((error: { code?: number; stdout: string; stderr: string }) => error);
  rmSync(cwd, { recursive: true, force: true });
  const output = `${ran.stdout}${ran.stderr}`;
  return {
    exitCode: 'code' in ran ? (ran.code ?? -1) : 0,
    examples: Number(/^\s*(\d+) generated/m.exec(output)?.[1] ?? 0),
    output,
  };
}
