import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Commands of a repository. */
export interface Plan {
  /** Run once, before the checks. */
  install: string[];
  /** Run before and after the change. */
  checks: string[];
}

interface Manifest {
  scripts?: Record<string, string>;
  dependencies?: object;
  devDependencies?: object;
}

/** By the lockfile, which names the package manager. */
const INSTALLS = [
  ['package-lock.json', 'npm ci --no-audit --no-fund'],
  ['npm-shrinkwrap.json', 'npm ci --no-audit --no-fund'],
  ['pnpm-lock.yaml', 'pnpm install --frozen-lockfile'],
  ['yarn.lock', 'yarn install --frozen-lockfile'],
] as const;

/**
 * The repository's own commands, by its package.json, or the given ones.
 *
 * @param given commands that take the place of its scripts
 * @throws SyntaxError for a package.json that isn't JSON
 */
export function planOf(folder: string, given: string[] | undefined): Plan {
  const path = join(folder, 'package.json');
  if (!existsSync(path)) return { install: [], checks: given ?? [] };
  const manifest = JSON.parse(readFileSync(path, 'utf8')) as Manifest;
  const { scripts = {} } = manifest;
  const isWritten = (name: string) => scripts[name] !== undefined && !/no test specified/.test(scripts[name]);
  const own = ['build', 'test'].filter(isWritten).map((name) => `npm run ${name}`);
  return { install: installOf(folder, manifest), checks: given ?? own };
}

function installOf(folder: string, { dependencies = {}, devDependencies = {} }: Manifest): string[] {
  if (Object.keys({ ...dependencies, ...devDependencies }).length === 0) return [];
  const known = INSTALLS.find(([file]) => existsSync(join(folder, file)));
  return [known?.[1] ?? 'npm install --no-package-lock --no-audit --no-fund'];
}
