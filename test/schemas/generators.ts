/** Programs that turn published schemas into types, as authors of clients run them. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { jsonSchemaToZod } from 'json-schema-to-zod';
import { z } from 'zod';
import { installVenv } from '../support/python.js';

const run = promisify(execFile);
const LIMIT_MS = 240_000;
const BIN = resolve('node_modules/.bin');

/** The schema that json-schema-to-zod makes. */
export function toZod(schema: object): z.ZodType {
  const code = jsonSchemaToZod(schema, { zodVersion: 4 });
  // eslint-disable-next-line @typescript-eslint/no-implied-eval -- what users paste into their code
  return (new Function('z', `return ${code}`) as (zod: typeof z) => z.ZodType)(z);
}

/**
 * Makes types with openapi-typescript and compiles them.
 *
 * @returns the compiler's messages; empty for valid code
 */
export async function compileTypes(document: object): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'longhaul-types-'));
  writeFileSync(join(folder, 'openapi.json'), JSON.stringify(document));
  await run(join(BIN, 'openapi-typescript'), ['openapi.json', '--output', 'types.ts'], {
    cwd: folder,
    timeout: LIMIT_MS,
  });
  const compilerOptions = { strict: true, noEmit: true, types: [] };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['types.ts'] }));
  const compiled = await run(join(BIN, 'tsc'), ['-p', '.'], { cwd: folder, timeout: LIMIT_MS }).catch(
    (error: { stdout: string }) => error,
  );
  return compiled.stdout;
}

/** @returns the folder of openapi-python-client's executables */
export function installPythonClient(): Promise<string> {
  return installVenv('openapi-python-client', resolve('test/schemas/requirements.txt'));
}

export interface PythonClient {
  /** Parts that could not be generated. */
  warnings: string[];
  /** Names of the modules with models, all of which were imported. */
  models: string[];
}

/** Makes a client with openapi-python-client, and imports its models. */
export async function pythonClientOf(bin: string, document: object): Promise<PythonClient> {
  const folder = mkdtempSync(join(tmpdir(), 'longhaul-python-'));
  writeFileSync(join(folder, 'openapi.json'), JSON.stringify(document));
  const options = {
    cwd: folder,
    timeout: LIMIT_MS,
    maxBuffer: 64 * 1024 * 1024,
    env: { ...process.env, COLUMNS: '400' },
  };
  const args = ['generate', '--path', 'openapi.json', '--output-path', 'made', '--meta', 'none'];
  const { stdout, stderr } = await run(join(bin, 'openapi-python-client'), args, options);
  const models = readdirSync(join(folder, 'made/models'))
    .filter((name) => name.endsWith('.py') && name !== '__init__.py')
    .map((name) => name.slice(0, -3));
  const imports = models.map((name) => `import made.models.${name}`).join('\n');
  await run(join(bin, 'python'), ['-c', imports], options);
  const warnings = `${stdout}\n${stderr}`.split('\n').filter((line) => /^(WARNING|ERROR)/.test(line));
  return { warnings, models };
}
