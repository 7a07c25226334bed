/** String formats of @cfworker/json-schema. Other formats are only annotations. */
import { format as formats } from '@cfworker/json-schema';

export function fitsFormat(format: string, text: string): boolean {
  if (format === 'url') return isUrl(text);
  return !Object.hasOwn(formats, format) || formats[format]!(text);
}

/** Public URLs of http, https and ftp: the library's own format `url`. The library's expression takes exponential time. */
function isUrl(text: string): boolean {
  return !/\s/.test(text) && URL_PATTERN.test(text);
}

const LETTER = 'a-z\\u{a1}-\\u{ffff}';
const LABEL = `[${LETTER}0-9]+(?:-[${LETTER}0-9]+)*`;
const PRIVATE_ADDRESS =
  '(?!10(?:\\.\\d{1,3}){3})(?!127(?:\\.\\d{1,3}){3})(?!169\\.254(?:\\.\\d{1,3}){2})(?!192\\.168(?:\\.\\d{1,3}){2})(?!172\\.(?:1[6-9]|2\\d|3[0-1])(?:\\.\\d{1,3}){2})';
const ADDRESS =
  '(?:[1-9]\\d?|1\\d\\d|2[01]\\d|22[0-3])(?:\\.(?:1?\\d{1,2}|2[0-4]\\d|25[0-5])){2}(?:\\.(?:[1-9]\\d?|1\\d\\d|2[0-4]\\d|25[0-4]))';
const URL_PATTERN = new RegExp(
  `^(?:https?|ftp)://(?:\\S+@)?(?:${PRIVATE_ADDRESS}${ADDRESS}|${LABEL}(?:\\.${LABEL})*\\.[${LETTER}]{2,})(?::\\d{2,5})?(?:/\\S*)?$`,
  'iu',
);
