/** The runner of a suite isn't on this machine. */
export class RunnerMissing extends Error {
  override name = 'RunnerMissing';
}
