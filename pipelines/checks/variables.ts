/** Checks of `env` and `secrets` for reserved names and names that steps need. */
import { RESERVED_PREFIXES } from '../names.js';
import type { KeyPath, Report } from '../yaml/problems.js';
import { at, entriesOf, stepsIn, textsOf } from '../values.js';

/** Maximum length of a variable's value, in bytes: the system limits it. */
const MAX_VALUE_BYTES = 32 * 1024;

/**
 * Variables that a step needs unchanged. A secret of that name would replace the variable, and logs would mask its value, such as a path,
 * everywhere. Proxies may be secrets: their addresses hold passwords.
 */
const TAKEN: [names: RegExp, reason: string][] = [
  [/^PATH$/, 'by which scripts find their commands'],
  [/^(HOME|USER|LOGNAME|SHELL)$/, "which steps get from their worker's user"],
  [/^(LANG|LANGUAGE|LC_.*|TZ)$/, 'which steps get from their worker'],
  [/^(PWD|OLDPWD|TMPDIR|CI)$/, 'which every step gets'],
  [/^(LD_.*|DYLD_.*)$/, 'which controls how the system loads programs'],
  [
    /^(BASH|BASHOPTS|BASH_.*|SHELLOPTS|ENV|IFS|PS[0-4]|POSIXLY_CORRECT|CDPATH|GLOBIGNORE|FUNCNAME|EXECIGNORE|HOSTNAME|HOSTTYPE|MACHTYPE|OSTYPE|UID|EUID|PPID|GROUPS|SHLVL|RANDOM|SRANDOM|SECONDS|LINENO|EPOCHSECONDS|EPOCHREALTIME|OPTARG|OPTIND|OPTERR|DIRSTACK|PIPESTATUS|REPLY|_)$/,
    'which bash itself uses',
  ],
];

function shadowed(name: string): string | undefined {
  return TAKEN.find(([names]) => names.test(name))?.[1];
}

export function checkVariables(file: unknown, report: Report): void {
  const secrets = new Set<string>();
  for (const [index, name] of textsOf(at(file, 'secrets'))) {
    const path = ['secrets', index];
    if (secrets.has(name)) report(path, `"${name}" is already listed; list it once`);
    secrets.add(name);
    checkName(name, path, 'value', report);
    const reason = shadowed(name);
    if (reason !== undefined) report(path, `a secret would replace ${name}, ${reason}; choose another name`);
  }
  const checkEnv = (owner: unknown, path: KeyPath) => {
    for (const [name, value] of entriesOf(at(owner, 'env'))) {
      const place = [...path, 'env', name];
      checkName(name, place, 'key', report);
      if (secrets.has(name)) report(place, `"${name}" is also a secret; rename one of them`, 'key');
      if (typeof value === 'string' && Buffer.byteLength(value) > MAX_VALUE_BYTES)
        report(place, `expected at most 32 KiB; got ${Buffer.byteLength(value)} bytes; write it to a file`);
    }
  };
  checkEnv(file, []);
  for (const [name, job] of entriesOf(at(file, 'jobs'))) checkEnv(job, ['jobs', name]);
  for (const { step, path } of stepsIn(file)) checkEnv(step, path);
}

function checkName(name: string, path: KeyPath, place: 'key' | 'value', report: Report): void {
  const prefix = RESERVED_PREFIXES.find((one) => name.startsWith(one));
  if (prefix) report(path, `names that begin with ${prefix} are Longhaul's own; choose another`, place);
}
