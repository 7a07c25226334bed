/** The run's current details in Temporal's UI: stage, parts and open questions, in Markdown. They write no history. */
import { getCurrentDetails, setCurrentDetails } from '@temporalio/workflow';
import { counted } from '../../operations/json/counted.js';
import { isOpenPart } from '../../operations/record.js';
import { cutText } from '../../operations/wire/state.js';
import { state } from './state.js';

const SHOWN_QUESTIONS = 5;
const LINE_BYTES = 400;

let shown = '';

/** Call it after each activation: the SDK keeps the text until somebody asks for it. The author's own details stay. */
export function showDetails(): void {
  if (getCurrentDetails() !== shown) return;
  const lines = [stageLine(), partsLine(), ...questionLines()].filter((line) => line !== undefined);
  shown = lines.join('\n\n');
  setCurrentDetails(shown);
}

function stageLine(): string | undefined {
  const { stage, progress } = state();
  const amount =
    progress && `${progress.progress}${progress.total === undefined ? '' : ` of ${progress.total}`}`;
  const text = [amount, progress?.message].filter(Boolean).join(', ');
  const line = [stage && `**${plain(stage)}**`, text && plain(text)].filter(Boolean).join(': ');
  return line || undefined;
}

function partsLine(): string | undefined {
  const { children = [] } = state();
  if (children.length === 0) return undefined;
  const open = children.filter(({ status }) => isOpenPart(status)).length;
  return `${children.length - open} of ${counted(children.length, 'part')} ended`;
}

function questionLines(): string[] {
  const all = Object.entries(state().inputRequests ?? {});
  const lines = all
    .slice(0, SHOWN_QUESTIONS)
    .map(([key, { message }]) => `- waits for an answer to ${plain(key)}: ${plain(message)}`);
  const more = all.length - lines.length;
  return more > 0 ? [...lines, `- and ${more} more`] : lines;
}

/** One line in which Markdown has no meaning. */
function plain(text: string): string {
  return cutText(text.split('\n', 1)[0]!, LINE_BYTES).replace(/[\\`*_{}[\]<>#|]/g, '\\$&');
}
