import type { SourcePosition } from '../../errors.js';
import type { Report } from '../../config/value/report.js';

/** A text of the other program and where it is. */
export interface Written {
  readonly text: string;
  readonly position: SourcePosition;
}

/** Reads values as the other programs write them. What is wrong goes into the report. */
export class Values {
  constructor(private readonly report: Report) {}

  /** A decimal number from 0 to `most`. */
  number(value: Written, what: string, most = Number.MAX_SAFE_INTEGER): number {
    const number = /^[+-]?(\d+\.?\d*|\.\d+)$/.test(value.text.trim()) ? Number(value.text) : NaN;
    if (number >= 0 && number <= most) return number;
    return this.refuse(value, `a number from 0${most === Number.MAX_SAFE_INTEGER ? '' : ` to ${String(most)}`}`, what, 0);
  }

  oneOf<T extends string>(value: Written, what: string, choices: readonly [T, ...T[]]): T {
    const found = choices.find((choice) => choice === value.text);
    return found ?? this.refuse(value, `one of ${choices.join(', ')}`, what, choices[0]);
  }

  missing(position: SourcePosition, what: string): void {
    this.report.issue('EVICTD_IMPORT_VALUE', `${what} is missing`, position, 'add it');
  }

  /** @returns  `otherwise` */
  refuse<T>({ text, position }: Written, expected: string, what: string, otherwise: T): T {
    const message = `${what}: ${JSON.stringify(text)} is not ${expected}`;
    // A setting may count in several policies.
    const isNew = !this.report.issues.some((issue) => issue.message === message && issue.position.line === position.line);
    if (isNew) this.report.issue('EVICTD_IMPORT_VALUE', message, position, `write ${expected}`);
    return otherwise;
  }
}

/** `10.5%`; at most three decimals. */
export function percent(number: number): string {
  return `${String(Number(number.toFixed(3)))}%`;
}

/** Seconds as a duration of evictd: `30s`, `500ms`. */
export function seconds(number: number): string {
  return Number.isInteger(number) ? `${String(number)}s` : `${String(Math.round(number * 1000))}ms`;
}

/** The longest `for`, `over` and `grace` of a policy. */
export const HOUR_SECONDS = 3600;
/** The longest `cooldown`. */
export const DAY_SECONDS = 86_400;

const UNITS = [
  ['Gi', 1024 ** 3],
  ['Mi', 1024 ** 2],
] as const;

/** Bytes as an amount of evictd: `15Gi`, `300Mi`, rounded up to whole KiB. */
export function amount(bytes: number): string {
  const [unit, size] = UNITS.find(([, each]) => bytes >= each && bytes % each === 0) ?? ['Ki', 1024];
  return bytes === 0 ? '0' : `${String(Math.ceil(bytes / size))}${unit}`;
}
