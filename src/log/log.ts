import { Destination, standardError, type Sink } from './log-destination.js';
import { FORMS, plainFields, type Form, type Level } from './log-line.js';

export type { Level } from './log-line.js';

type Fields = Readonly<Record<string, unknown>>;

/** Writing never blocks and never throws. */
export interface Log {
  debug(message: string, fields?: Fields): void;
  info(message: string, fields?: Fields): void;
  warn(message: string, fields?: Fields): void;
  error(message: string, fields?: Fields): void;
  /** Lines dropped since the start, because the reader was too slow or a write failed. */
  readonly dropped: number;
  /** Resolves when every line is written, at the latest after `timeoutMs`. */
  flush(timeoutMs: number): Promise<void>;
}

export interface LogOptions {
  /** `auto`: systemd if standard error is the journal, else text. */
  readonly format: 'auto' | Form;
  readonly level: Level;
  /** Whether standard error is a terminal. */
  readonly isTTY: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Default: standard error. */
  readonly sink?: Sink;
}

const SEVERITY: Readonly<Record<Level, number>> = { debug: 0, info: 1, warn: 2, error: 3 };

/** A terminal gets text even if JOURNAL_STREAM is set: every descendant of a service inherits it (systemd.exec(5)). */
export function logForm({ format, isTTY, env }: LogOptions): Form {
  if (format !== 'auto') return format;
  return env.JOURNAL_STREAM && !isTTY ? 'systemd' : 'text';
}

export function createLog(options: LogOptions): Log {
  const destination = new Destination(options.sink ?? standardError());
  const format = FORMS[logForm(options)];
  const style = { colour: options.isTTY && !options.env.NO_COLOR, dated: !options.isTTY };
  const write = (level: Level, message: string, fields: Fields = {}): void => {
    if (SEVERITY[level] < SEVERITY[options.level]) return;
    destination.write(format({ level, time: new Date(), message, fields: plainFields(fields) }, style));
  };

  let reported = 0;
  const log = (level: Level, message: string, fields?: Fields): void => {
    write(level, message, fields);
    const { dropped } = destination;
    if (dropped > reported && destination.ready) {
      reported = dropped;
      write('warn', `${String(dropped)} log lines dropped since the start: the reader was too slow`, { lines: dropped });
    }
  };

  return {
    debug: (message, fields) => log('debug', message, fields),
    info: (message, fields) => log('info', message, fields),
    warn: (message, fields) => log('warn', message, fields),
    error: (message, fields) => log('error', message, fields),
    get dropped() {
      return destination.dropped;
    },
    flush: (timeoutMs) => destination.flush(timeoutMs),
  };
}
