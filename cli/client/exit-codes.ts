/** Exit codes of the client commands, for scripts. Part of the public interface. */
export const EXIT = {
  /** Completed; for commands that don't wait: done. */
  ok: 0,
  /** The tool failed, or the command did. */
  failed: 1,
  /** Wrong usage: flags, arguments, answers, settings, the home. */
  usage: 2,
  /** No server answers, it can't reach Temporal, a worker or the storage, or it enforces a limit. */
  unreachable: 3,
  /** The operation doesn't exist or has expired. */
  notFound: 4,
  canceled: 5,
  timedOut: 6,
  /** `result` without `--wait`: not finished yet; with `--partial`: no partial result yet. */
  unfinished: 7,
  /** Ctrl-C: the work continues without a waiting command. */
  detached: 130,
} as const;

export const EXIT_CODES_HELP = `
Exit codes of the commands that talk to a server:
  0    completed, or done; for status also: open
  1    the tool failed, or the command did
  2    invalid flag, argument, answer or setting; or the home can't be used
  3    no server answers, it can't reach Temporal, or a limit is reached
  4    no such operation, or it has expired
  5    canceled
  6    timed out: the tool's maximum duration passed
  7    result without --wait: not finished yet; with --partial: nothing finished yet
  130  detached with Ctrl-C: the work continues
  141  the reader of standard output has gone, as in | head -1: the work continues
`;
