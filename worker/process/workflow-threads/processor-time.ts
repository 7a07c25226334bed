/** Processor time of this process without its main thread, which runs activities. */
import { readFileSync } from 'node:fs';

/** Linux counts a thread's time in hundredths of a second for every program. */
const TICK_MS = 10;

/** @returns milliseconds, of all threads where the system has no `/proc` */
export function otherThreadsMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000 - mainThreadMs();
}

/** Fields `utime` and `stime` of proc(5); the name before them, in brackets, may have spaces. */
function mainThreadMs(): number {
  try {
    const line = readFileSync(`/proc/self/task/${process.pid}/stat`, 'utf8');
    const fields = line.slice(line.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
  } catch {
    return 0;
  }
}
