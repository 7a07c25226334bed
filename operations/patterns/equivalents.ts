/**
 * Equivalents without look-aheads for the patterns of zod's own formats. Those patterns arrive through JSON Schema when an
 * author writes `z.hostname()`, `z.iso.duration()`, `z.emoji()`, or `z.email()` with zod before 4.6; the others are from
 * `z.regexes`.
 */

/** A text passes when it matches every pattern of `all` and no pattern of `none`. */
export interface Tests {
  all: string[];
  none?: string[];
}

const HOSTNAME =
  '[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\\.[a-zA-Z0-9](?:[-0-9a-zA-Z]{0,61}[0-9a-zA-Z])?)*\\.?$';
const DOMAIN = '([a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?\\.)+[a-zA-Z]{2,63}$';
const EMAIL = "([A-Za-z0-9_'+\\-\\.]*)[A-Za-z0-9_+-]@([A-Za-z0-9][A-Za-z0-9\\-]*\\.)+[A-Za-z]{2,}$";
const EXTENDED_DATE =
  '(?:(?:[-+]?\\d+Y)|(?:[-+]?\\d+[.,]\\d+Y$))?(?:(?:[-+]?\\d+M)|(?:[-+]?\\d+[.,]\\d+M$))?(?:(?:[-+]?\\d+W)|(?:[-+]?\\d+[.,]\\d+W$))?(?:(?:[-+]?\\d+D)|(?:[-+]?\\d+[.,]\\d+D$))?';
const EXTENDED_TIME =
  '(?:(?:[-+]?\\d+H)|(?:[-+]?\\d+[.,]\\d+H$))?(?:(?:[-+]?\\d+M)|(?:[-+]?\\d+[.,]\\d+M$))?(?:[-+]?\\d+(?:[.,]\\d+)?S)?';
function rfc5322Email(bracket: string): string {
  return `^(([^<>()\\[\\]\\\\.,;:\\s@"]+(\\.[^<>()\\[\\]\\\\.,;:\\s@"]+)*)|(".+"))@((\\[[0-9]{1,3}\\.[0-9]{1,3}\\.[0-9]{1,3}\\.[0-9]{1,3}${bracket})|(([a-zA-Z\\-0-9]+\\.)+[a-zA-Z]{2,}))$`;
}

/** Keyed by the pattern as zod gives it. */
export const EQUIVALENTS: ReadonlyMap<string, Tests> = new Map([
  // z.hostname()
  [`^(?=.{1,253}\\.?$)${HOSTNAME}`, { all: [`^${HOSTNAME}`, '^.{1,253}\\.?$'] }],
  // z.iso.duration()
  [
    '^P(?:(\\d+W)|(?!.*W)(?=\\d|T\\d)(\\d+Y)?(\\d+M)?(\\d+D)?(T(?=\\d)(\\d+H)?(\\d+M)?(\\d+([.,]\\d+)?S)?)?)$',
    {
      all: [
        '^P(?:\\d+W|(?:\\d+Y)?(?:\\d+M)?(?:\\d+D)?(?:T(?:\\d+H)?(?:\\d+M)?(?:\\d+(?:[.,]\\d+)?S)?)?)$',
        '^PT?\\d',
      ],
      none: ['T$'],
    },
  ],
  // z.emoji(), from 4.6 on
  [
    '^(?=[\\s\\S]*[\\p{Extended_Pictographic}\\p{Regional_Indicator}\\u20E3])[\\p{Extended_Pictographic}\\p{Emoji_Component}]+$',
    {
      all: [
        '^[\\p{Extended_Pictographic}\\p{Emoji_Component}]+$',
        '[\\p{Extended_Pictographic}\\p{Regional_Indicator}\\u20E3]',
      ],
    },
  ],
  // z.email(), until 4.5
  [`^(?!\\.)(?!.*\\.\\.)${EMAIL}`, { all: [`^${EMAIL}`], none: ['^\\.', '\\.\\.'] }],
  // z.regexes.rfc5322Email: has no look-ahead, but an unescaped bracket, which is invalid with the flag `u`
  [rfc5322Email(']'), { all: [rfc5322Email('\\]')] }],
  // z.regexes.domain
  [`^(?=.{1,253}$)${DOMAIN}`, { all: [`^${DOMAIN}`, '^.{1,253}$'] }],
  // z.regexes.extendedDuration
  [
    `^[-+]?P(?!$)${EXTENDED_DATE}(?:T(?=[\\d+-])${EXTENDED_TIME})??$`,
    { all: [`^[-+]?P${EXTENDED_DATE}(?:T${EXTENDED_TIME})?$`], none: ['[PT]$'] },
  ],
  // z.regexes.iban
  [
    '^[A-Z]{2}(?!00|01|99)\\d{2}[A-Z0-9]{11,30}$',
    { all: ['^[A-Z]{2}\\d{2}[A-Z0-9]{11,30}$'], none: ['^[A-Z]{2}(?:00|01|99)'] },
  ],
]);
