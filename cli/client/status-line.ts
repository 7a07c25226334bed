/** The line that a terminal shows while a task runs: stage, bar, numbers, time. */
import { oneLine } from './table.js';
import { progressOf, type Task } from './wire.js';

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const BAR_WIDTH = 24;

/**
 * @param frame counts up with each drawing; turns the spinner
 * @param columns width of the terminal; a longer line is cut
 */
export function statusLine(task: Task, frame: number, nowMs: number, columns: number): string {
  const { progress, total, message, stage } = progressOf(task);
  const parts = [FRAMES[frame % FRAMES.length]!, oneLine(stage ?? task.status)];
  if (progress !== undefined && total !== undefined && total > 0) {
    const share = Math.min(1, Math.max(0, progress / total));
    const filled = Math.round(share * BAR_WIDTH);
    parts.push('█'.repeat(filled) + '░'.repeat(BAR_WIDTH - filled), `${Math.floor(share * 100)}%`);
  } else if (progress !== undefined) parts.push(String(progress));
  const words = progress === undefined ? task.statusMessage : message;
  if (words && words !== stage) parts.push(oneLine(words));
  const line = [...parts, `(${elapsed(nowMs - Date.parse(task.createdAt))})`].join(' ');
  return line.length < columns ? line : `${line.slice(0, Math.max(0, columns - 2))}…`;
}

/** `7s`, `3m 20s`, `2h 05m`. */
export function elapsed(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 60) return `${seconds}s`;
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  if (hours === 0) return `${minutes}m ${pad(seconds % 60)}s`;
  return `${hours}h ${pad(minutes)}m`;
}

function pad(value: number): string {
  return String(value).padStart(2, '0');
}
