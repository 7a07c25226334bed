/** Runs Schemathesis, at the versions of requirements.txt. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { installVenv } from '../../support/python.js';

const run = promisify(execFile);
const folder = resolve('test/http-jobs/schemathesis');

/** @returns the folder of its executable */
export function installSchemathesis(): Promise<string> {
  return installVenv('schemathesis', join(folder, 'requirements.txt'));
}

/** Checks applied to every response. */
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
  /** Number of generated requests. */
  examples: number;
  output: string;
}

/**
 * Runs Schemathesis against a server's OpenAPI document.
 *
 * @param bin folder from {@link installSchemathesis}
 * @param examples maximum generated requests for each operation
 */
export async function runSchemathesis(
  bin: string,
  base: string,
  examples: number,
  limitMs: number,
): Promise<Outcome> {
  const args = [
    '--config-file',
    join(folder, 'schemathesis.toml'),
    'run',
    `${base}/openapi.json`,
    ...['--checks', CHECKS.join(',')],
    ...['--phases', 'coverage,fuzzing,stateful'],
    ...['--max-examples', String(examples)],
    // One worker: threads that parse Python at once fail in CPython 3.11 ("AST constructor recursion depth mismatch").
    ...['--workers', '1', '--request-timeout', '60', '--seed', '1'],
    ...['--suppress-health-check', 'all', '--warnings', 'off', '--continue-on-failure', '--no-color'],
  ];
  // Schemathesis writes its examples database to its working folder.
  const cwd = mkdtempSync(join(tmpdir(), 'longhaul-schemathesis-'));
  const ran = await run(join(bin, 'schemathesis'), args, {
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
