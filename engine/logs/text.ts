/** Logs as text, from several pages. */
import { TEXT_CHARACTERS, type LogPage, type LogQuery } from '../../operations/log-page.js';

/** Concatenated lines of a log. The last has no line end if it is cut or still growing. */
export interface LogText extends Omit<LogPage, 'lines'> {
  text: string;
  /** Numbers of the first and last lines; missing if there are none. */
  first?: number;
  last?: number;
  /** Whether the text begins in the middle of the first line. */
  isContinued?: true;
}

/** Reads up to {@link TEXT_CHARACTERS}. @param query with a `limit`, only one page @throws LonghaulError as `readPage` does */
export async function readLogText(
  readPage: (query: LogQuery) => Promise<LogPage>,
  query: LogQuery,
): Promise<LogText> {
  let page = await readPage(query);
  const { step } = page;
  const start = page.lines[0];
  let last = page.lines.at(-1)?.number;
  let text = textOf(page);
  while (
    query.limit === undefined &&
    page.cursor !== undefined &&
    !page.isAtEnd &&
    text.length < TEXT_CHARACTERS
  ) {
    page = await readPage({ step, cursor: page.cursor });
    text += textOf(page);
    last = page.lines.at(-1)?.number ?? last;
  }
  const { lines: _lines, ...end } = page;
  return {
    ...end,
    text,
    ...(start === undefined || last === undefined ? {} : { first: start.number, last }),
    ...(start?.isContinued ? { isContinued: true } : {}),
  };
}

function textOf({ lines }: LogPage): string {
  return lines.map(({ text, isUnfinished }) => (isUnfinished ? text : `${text}\n`)).join('');
}
