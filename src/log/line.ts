import type { Plain } from './field.js';

export type Level = 'debug' | 'info' | 'warn' | 'error';

/** A line before it has a form. `time` is the wall clock. */
export interface LogLine {
  readonly level: Level;
  readonly time: Date;
  readonly message: string;
  readonly fields: Readonly<Record<string, Plain>>;
}

/** syslog's severities, which the journal takes from a leading `<N>` (sd-daemon(3)). */
const SEVERITY: Readonly<Record<Level, number>> = { error: 3, warn: 4, info: 6, debug: 7 };

/** On a terminal an ordinary line needs no word for its level. */
const WORD: Readonly<Record<Level, string>> = { error: 'error: ', warn: 'warning: ', info: '', debug: 'debug: ' };
const COLOUR: Readonly<Record<Level, string>> = { error: '\u001b[31m', warn: '\u001b[33m', info: '', debug: '\u001b[2m' };
const PLAIN = '\u001b[0m';

/** What a person can act on stands in every text line; the other fields only where the reader asked for details. */
const FOR_PEOPLE = ['hint', 'code'];

/** Control characters, among them line ends and the escape that starts terminal commands, and Unicode's line and paragraph separators. */
// eslint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g;

/** Text that stays on its line and cannot talk to a terminal: workload names are other people's. */
function oneLine(text: string): string {
  return text.replace(CONTROL, (character) => {
    if (character === '\n') return '\\n';
    if (character === '\t') return '\\t';
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

/** ` key=value key="two words"`, empty for no fields. */
function fieldsText(fields: readonly (readonly [string, Plain])[]): string {
  return fields
    .map(([key, value]) => {
      const text = typeof value === 'string' ? value : JSON.stringify(value);
      return ` ${key}=${/^[^\s"=\\]+$/.test(text) ? text : JSON.stringify(text)}`;
    })
    .join('');
}

const two = (part: number): string => String(part).padStart(2, '0');
const timeText = (time: Date): string => `${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}`;
const dateText = (time: Date): string => `${String(time.getFullYear())}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;

/**
 * A sentence for people, in local time: `12:03:44 warning: … (hint) [CODE]`.
 *
 * @param dated  with the date: for what is kept, not watched
 */
export function textLine(line: LogLine, style: { readonly colour: boolean; readonly dated: boolean }): string {
  const { level, time, message, fields } = line;
  const { hint, code } = fields;
  const remedy = (typeof hint === 'string' ? ` (${hint})` : '') + (typeof code === 'string' ? ` [${code}]` : '');
  const details = level === 'debug' ? fieldsText(Object.entries(fields).filter(([key]) => !FOR_PEOPLE.includes(key))) : '';
  const sentence = oneLine(`${WORD[level]}${message}${remedy}${details}`);
  const coloured = style.colour && COLOUR[level] !== '' ? COLOUR[level] + sentence + PLAIN : sentence;
  return `${style.dated ? `${dateText(time)} ` : ''}${timeText(time)} ${coloured}\n`;
}

/** For the journal, which keeps the time itself: `<4>sentence key=value`. */
export function systemdLine({ level, message, fields }: LogLine): string {
  return `<${String(SEVERITY[level])}>${oneLine(message + fieldsText(Object.entries(fields)))}\n`;
}
