import { getSystemErrorMap } from 'node:util';

/**
 * A place in a configuration source. Lines and columns start at 1; `file` is a path, or the flag that carried the text.
 */
export interface SourcePosition {
  readonly file: string;
  readonly line?: number;
  readonly column?: number;
}

/** Names a class in every bundle (packaging/bundles.js): each has a copy of this module. */
const CLASS = Symbol.for('evictd.errors.class');

/**
 * An error with a code (docs/errors.md), a message with the observed value, and a hint. `instanceof` holds for errors of other
 * bundles, too.
 */
export class EvictdError extends Error {
  static readonly [CLASS]: string = 'EvictdError';
  readonly code: string;
  readonly hint: string | undefined;

  constructor(code: string, message: string, options: { hint?: string; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = new.target.name;
    this.code = code;
    this.hint = options.hint;
  }

  static override [Symbol.hasInstance](value: unknown): boolean {
    if (!Object.hasOwn(this, CLASS)) return Function.prototype[Symbol.hasInstance].call(this, value);
    if (!(value instanceof Error)) return false;
    for (let of: object | null = value.constructor; of !== null; of = Object.getPrototypeOf(of) as object | null)
      if (Object.hasOwn(of, CLASS) && (of as typeof EvictdError)[CLASS] === this[CLASS]) return true;
    return false;
  }
}

export interface ConfigIssue {
  readonly code: string;
  readonly message: string;
  readonly hint?: string;
  readonly position: SourcePosition;
}

/** All issues of a configuration. */
export class ConfigError extends EvictdError {
  static override readonly [CLASS]: string = 'ConfigError';
  readonly issues: readonly ConfigIssue[];

  constructor(issues: readonly ConfigIssue[]) {
    const first = issues[0];
    super(first?.code ?? 'EVICTD_CONFIG_INVALID', `${String(issues.length)} configuration error${issues.length === 1 ? '' : 's'}`);
    this.issues = issues;
  }
}

/** A failed system call or kernel file. `errno` is symbolic ('ENOENT'). */
export class HostError extends EvictdError {
  static override readonly [CLASS]: string = 'HostError';
  readonly errno: string | undefined;
  readonly syscall: string | undefined;
  readonly path: string | undefined;

  constructor(
    code: string,
    message: string,
    options: { hint?: string; cause?: unknown; errno?: string; syscall?: string; path?: string } = {},
  ) {
    super(code, message, options);
    this.errno = options.errno;
    this.syscall = options.syscall;
    this.path = options.path;
  }
}

/** A malformed document of the Kubernetes API. `path`: 'spec.containers[1].name', or '' for the document. */
export class DocumentError extends EvictdError {
  static override readonly [CLASS]: string = 'DocumentError';
  readonly path: string;

  constructor(message: string, options: { path: string; hint?: string; cause?: unknown }) {
    super('EVICTD_KUBERNETES_DOCUMENT', message, options);
    this.path = options.path;
  }
}

/** A later start may succeed: another instance runs, or the node cgroup is missing (exit 75). */
export class UnavailableError extends EvictdError {
  static override readonly [CLASS]: string = 'UnavailableError';
}

/** An input file is unreadable (exit 66) or malformed (exit 65). */
export class InputError extends EvictdError {
  static override readonly [CLASS]: string = 'InputError';
  readonly isMissing: boolean;

  constructor(code: string, message: string, options: { isMissing: boolean; hint?: string; cause?: unknown }) {
    super(code, message, options);
    this.isMissing = options.isMissing;
  }
}

/** A usage error (exit 64). */
export class UsageError extends EvictdError {
  static override readonly [CLASS]: string = 'UsageError';
}

/** 2 → 'ENOENT (no such file or directory)'. `errno` is positive. */
export function errnoText(errno: number): string {
  const [name, meaning] = getSystemErrorMap().get(-errno) ?? [];
  return name === undefined || meaning === undefined ? `error ${String(errno)}` : `${name} (${meaning})`;
}

/** The symbolic errno ('ENOENT') of an error of Node or the addon; undefined: another error. */
export function errnoName(error: unknown): string | undefined {
  return error instanceof Error && 'syscall' in error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

const SHORTAGES: ReadonlySet<string> = new Set([
  ...['EMFILE', 'ENFILE', 'ENOMEM', 'EAGAIN', 'EINTR'],
  ...['ERROR_NOT_ENOUGH_MEMORY', 'ERROR_OUTOFMEMORY', 'ERROR_NO_SYSTEM_RESOURCES', 'ERROR_COMMITMENT_LIMIT', 'ERROR_TOO_MANY_OPEN_FILES'],
  ...['ERROR_WORKING_SET_QUOTA', 'ERROR_NOT_ENOUGH_QUOTA', 'RPC_S_OUT_OF_RESOURCES'],
]);

/** Whether evictd itself lacked memory or descriptors, which passes. */
export function isShortage(error: unknown): boolean {
  return isShortageCode((error instanceof HostError ? error.errno : errnoName(error)) ?? '');
}

/** Whether a symbolic name ('ENOMEM', 'ERROR_COMMITMENT_LIMIT') is that of a shortage. */
export function isShortageCode(code: string): boolean {
  return SHORTAGES.has(code);
}

/** Whether a positive errno of Linux is that of a shortage. */
export function isShortageErrno(errno: number): boolean {
  return isShortageCode(getSystemErrorMap().get(-errno)?.[0] ?? '');
}

/** The value of `action`; undefined: it failed, and the reason does not matter, such as a process that has ended. */
export function attempt<T>(action: () => T): T | undefined {
  try {
    return action();
  } catch {
    return undefined;
  }
}

export function withHint(message: string, hint: string | undefined): string {
  return hint === undefined ? message : `${message} (${hint})`;
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

export function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
