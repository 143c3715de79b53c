import { nearest } from '../../config/value/report.js';
import {
  ConfigError,
  EvictdError,
  InputError,
  UnavailableError,
  UsageError,
  type ConfigIssue,
  type SourcePosition,
  messageOf,
} from '../../errors.js';

/** The code of an error that has none: a defect of evictd. */
const DEFECT = 'EVICTD_INTERNAL';

/** sysexits.h: EX_USAGE 64, EX_DATAERR 65, EX_NOINPUT 66, EX_TEMPFAIL 75, EX_CONFIG 78; 1 for everything else. */
export function exitCodeOf(error: unknown): 1 | 64 | 65 | 66 | 75 | 78 {
  if (error instanceof UsageError) return 64;
  if (error instanceof InputError) return error.isMissing ? 66 : 65;
  if (error instanceof ConfigError) return 78;
  return error instanceof UnavailableError ? 75 : 1;
}

/**
 * An error for standard error: `evictd: CODE: message`, then its cause and hint; a configuration's issues, one per
 * line. A defect shows its stack, which a bug report needs.
 */
export function formatError(error: unknown): string {
  if (error instanceof ConfigError) return formatConfigError(error);
  if (error instanceof EvictdError) {
    const reason = error.cause === undefined ? '' : messageOf(error.cause);
    const cause = reason === '' || error.message.includes(reason) ? '' : `  cause: ${reason}\n`;
    return `evictd: ${error.code}: ${error.message}\n${cause}${error.hint === undefined ? '' : `  hint: ${error.hint}\n`}`;
  }
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return `evictd: ${DEFECT}: ${text}\n  hint: this is a defect of evictd: report it with these lines\n`;
}

/** What is wrong, for a document of a command. @param defect  the code of an error that has none */
export function problemsOf(error: unknown, defect = DEFECT): readonly (Omit<ConfigIssue, 'position'> & Partial<ConfigIssue>)[] {
  if (error instanceof ConfigError) return error.issues;
  const code = error instanceof EvictdError ? error.code : defect;
  const hint = error instanceof EvictdError ? error.hint : undefined;
  return [{ code, message: messageOf(error), ...(hint !== undefined && { hint }) }];
}

/** One line per issue: `file:line:column: CODE message (hint: …)`. */
function formatConfigError(error: ConfigError): string {
  return error.issues.map((issue) => `${formatIssue(issue)}\n`).join('');
}

export function formatIssue({
  position,
  code,
  message,
  hint,
}: Omit<ConfigIssue, 'position'> & { readonly position?: SourcePosition }): string {
  const place = position === undefined ? 'evictd' : formatPosition(position);
  return `${place}: ${code} ${message}${hint === undefined || hint === '' ? '' : ` (hint: ${hint})`}`;
}

/** `file:line:column`, as far as known. */
export function formatPosition({ file, line, column }: SourcePosition): string {
  return [file, line, column].filter((part) => part !== undefined).join(':');
}

/** commander's message on one line, without its 'error: ', and with the choice that is meant. */
export function usageMessage(message: string): string {
  const line = message
    .replace(/^error: /, '')
    .trim()
    .replace(/\s*\n\s*/g, ' ');
  const [, written, choices] = /(?:argument|value) '(.*?)' is invalid.*\. Allowed choices are (.*)\.$/.exec(line) ?? [];
  const meant = written && choices && nearest(written, choices.split(', '));
  return meant ? `${line} (Did you mean ${meant}?)` : line;
}
