/** Status line of a running task in a terminal: stage, bar, numbers, time. */
import { oneLine } from './table.js';
import { truncateTo, widthOf } from './text-width.js';
import { progressOf, type Task } from '../client/wire.js';

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
/** Widths of the bar, in columns. */
const BAR_WIDTHS = [24, 8];
/** Columns that words need to be worth showing. */
const LEAST_WORDS = 8;

/** Fits the terminal's width: shrinks the bar, then the message, then the stage. @param frame counts drawings, for the spinner */
export function statusLine(task: Task, frame: number, nowMs: number, columns: number): string {
  const { progress, total, message, stage } = progressOf(task);
  const spinner = FRAMES[frame % FRAMES.length]!;
  const name = oneLine(stage ?? task.status);
  const share =
    progress !== undefined && total !== undefined && total > 0
      ? Math.min(1, Math.max(0, progress / total))
      : undefined;
  const number = share === undefined ? progress?.toString() : `${Math.floor(share * 100)}%`;
  const said = progress === undefined ? task.statusMessage : message;
  const words = said && said !== stage ? oneLine(said) : '';
  const time = `(${elapsed(nowMs - Date.parse(task.createdAt))})`;
  // Keep the last column free: some terminals wrap once it is written.
  const room = columns - 1;
  let left = room - widthOf([spinner, name, number, time].filter(Boolean).join(' '));
  if (left < 0) {
    const end = [number, time].filter(Boolean).join(' ');
    const kept = room - widthOf(`${spinner}  ${end}`);
    return truncateTo([spinner, ...(kept > 1 ? [truncateTo(name, kept)] : []), end].join(' '), room);
  }
  const wordsWidth = Math.min(widthOf(words), LEAST_WORDS);
  const barWidth =
    share === undefined ? 0 : (BAR_WIDTHS.find((width) => width + 1 + wordsWidth + 1 <= left) ?? 0);
  const filled = Math.round((share ?? 0) * barWidth);
  const bar = '█'.repeat(filled) + '░'.repeat(barWidth - filled);
  left -= barWidth ? barWidth + 1 : 0;
  const shown = left > wordsWidth ? truncateTo(words, left - 1) : '';
  return [spinner, name, bar, number, shown, time].filter(Boolean).join(' ');
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
