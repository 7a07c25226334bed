/** The umask of pipeline steps. */

/** The user's umask in octal, for pipeline steps. Set by a process that changes its own. */
export const UMASK_VARIABLE = 'LONGHAUL_UMASK';

/** The umask of steps, in octal, e.g. `0022`. */
export function stepUmask(environment: NodeJS.ProcessEnv = process.env): string {
  const given = environment[UMASK_VARIABLE] ?? '';
  return /^[0-7]{1,4}$/.test(given) ? given : process.umask().toString(8).padStart(4, '0');
}
