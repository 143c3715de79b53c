import { pino } from 'pino';
import { Destination, standardError, type Sink } from './log/destination.js';
import { plainFields } from './log/field.js';
import { systemdLine, textLine, type Level, type LogLine } from './log/line.js';

export type { Level } from './log/line.js';

/** Sentences about decisions, with fields. Writing never blocks and never throws. */
export interface Log {
  debug(message: string, fields?: Readonly<Record<string, unknown>>): void;
  info(message: string, fields?: Readonly<Record<string, unknown>>): void;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
  error(message: string, fields?: Readonly<Record<string, unknown>>): void;
  /** Lines lost because nobody reads, since the start. */
  readonly dropped: number;
  /** Resolves when everything is written, at the latest after `timeoutMs`. */
  flush(timeoutMs: number): Promise<void>;
}

export interface LogOptions {
  /** `auto`: the journal's form under systemd, sentences otherwise. */
  readonly format: 'auto' | 'text' | 'systemd' | 'json';
  readonly level: Level;
  /** Whether standard error is a terminal. */
  readonly isTTY: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Where lines go; standard error unless given. */
  readonly sink?: Sink;
}

/**
 * The form that `auto` means. JOURNAL_STREAM is inherited by every descendant of a service, terminals among them (systemd.exec(5)): a terminal is
 * read by a person.
 */
export function logForm({ format, isTTY, env }: LogOptions): 'text' | 'systemd' | 'json' {
  if (format !== 'auto') return format;
  return env.JOURNAL_STREAM && !isTTY ? 'systemd' : 'text';
}

export function createLog(options: LogOptions): Log {
  const destination = new Destination(options.sink ?? standardError());
  const form = logForm(options);
  const style = { colour: options.isTTY && !options.env.NO_COLOR, dated: !options.isTTY };

  // pino keeps time and level and has JSON; it hands over the parts of the line (as the stream's last*) for the other forms.
  const stream = {
    [Symbol.for('pino.metadata')]: true,
    lastLevel: 30,
    lastMsg: '',
    lastObj: {} as LogLine['fields'],
    write(json: string): void {
      if (form === 'json') {
        destination.write(json);
        return;
      }
      const level = pino.levels.labels[this.lastLevel] as Level;
      const line: LogLine = { level, time: new Date(), message: this.lastMsg, fields: this.lastObj };
      destination.write(form === 'systemd' ? systemdLine(line) : textLine(line, style));
    },
  };
  const logger = pino(
    {
      level: options.level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: (err: unknown) => err },
    },
    stream,
  );

  let told = 0;
  const say = (level: Level, message: string, fields: Readonly<Record<string, unknown>> = {}): void => {
    logger[level](plainFields(fields), message);
    const { dropped } = destination;
    if (dropped > told && destination.ready) {
      told = dropped;
      logger.warn({ lines: dropped }, `${String(dropped)} log lines were lost so far, because nobody read them`);
    }
  };

  return {
    debug: (message, fields) => say('debug', message, fields),
    info: (message, fields) => say('info', message, fields),
    warn: (message, fields) => say('warn', message, fields),
    error: (message, fields) => say('error', message, fields),
    get dropped() {
      return destination.dropped;
    },
    flush: (timeoutMs) => destination.flush(timeoutMs),
  };
}
