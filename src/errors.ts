import { getSystemErrorMap } from 'node:util';

/** A place in a configuration source. Lines and columns start at 1; `file` is a path, or the flag that carried the text. */
export interface SourcePosition {
  readonly file: string;
  readonly line?: number;
  readonly column?: number;
}

/** An error for people and machines: a code (docs/errors.md), a message with the value that was seen, a hint that can be acted on. */
export class EvictdError extends Error {
  readonly code: string;
  readonly hint: string | undefined;

  constructor(code: string, message: string, options: { hint?: string; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = new.target.name;
    this.code = code;
    this.hint = options.hint;
  }
}

export interface ConfigIssue {
  readonly code: string;
  readonly message: string;
  readonly hint?: string;
  readonly position: SourcePosition;
}

/** Everything wrong in a configuration, at once. */
export class ConfigError extends EvictdError {
  readonly issues: readonly ConfigIssue[];

  constructor(issues: readonly ConfigIssue[]) {
    const first = issues[0];
    super(first?.code ?? 'EVICTD_CONFIG_INVALID', `${String(issues.length)} configuration error${issues.length === 1 ? '' : 's'}`);
    this.issues = issues;
  }
}

/** A system call or kernel file refused. `errno` is the symbolic name ('ENOENT'). */
export class HostError extends EvictdError {
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

/** A document of the Kubernetes API, or one that claims to be, is not what it should be. `path` as in 'spec.containers[1].name'; '' for the whole. */
export class DocumentError extends EvictdError {
  readonly path: string;

  constructor(message: string, options: { path: string; hint?: string; cause?: unknown }) {
    super('EVICTD_KUBERNETES_DOCUMENT', message, options);
    this.path = options.path;
  }
}

/** A second instance, a missing node cgroup: nothing is wrong with the configuration, the start may succeed later (exit 75). */
export class UnavailableError extends EvictdError {}

/** A file that a command was given to read is not there or may not be read (exit 66), or is not what it should be (exit 65). */
export class InputError extends EvictdError {
  readonly isMissing: boolean;

  constructor(code: string, message: string, options: { isMissing: boolean; hint?: string; cause?: unknown }) {
    super(code, message, options);
    this.isMissing = options.isMissing;
  }
}

/** A wrong command line (exit 64). */
export class UsageError extends EvictdError {}

/** 2 → 'ENOENT (no such file or directory)'. `errno` is positive, as kernel files and the addon's arrays have it. */
export function errnoText(errno: number): string {
  const [name, meaning] = getSystemErrorMap().get(-errno) ?? [];
  return name === undefined || meaning === undefined ? `error ${String(errno)}` : `${name} (${meaning})`;
}

/** The symbolic errno ('ENOENT') of what Node or the addon has thrown; undefined for everything else. */
export function errnoName(error: unknown): string | undefined {
  return error instanceof Error && 'syscall' in error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

const SHORTAGES: ReadonlySet<string> = new Set([
  ...['EMFILE', 'ENFILE', 'ENOMEM', 'EAGAIN', 'EINTR'],
  ...['ERROR_NOT_ENOUGH_MEMORY', 'ERROR_OUTOFMEMORY', 'ERROR_NO_SYSTEM_RESOURCES', 'ERROR_COMMITMENT_LIMIT', 'ERROR_TOO_MANY_OPEN_FILES'],
  ...['ERROR_WORKING_SET_QUOTA', 'ERROR_NOT_ENOUGH_QUOTA', 'RPC_S_OUT_OF_RESOURCES'],
]);

/** Whether evictd itself was short of something (descriptors, memory): it says nothing about what was tried, and passes. */
export function isShortage(error: unknown): boolean {
  return isShortageCode((error instanceof HostError ? error.errno : errnoName(error)) ?? '');
}

/** The same of the symbolic name of an error ('ENOMEM', 'ERROR_COMMITMENT_LIMIT'). */
export function isShortageCode(code: string): boolean {
  return SHORTAGES.has(code);
}

/** The same of an errno of Linux, positive, as the addon returns it. */
export function isShortageErrno(errno: number): boolean {
  return isShortageCode(getSystemErrorMap().get(-errno)?.[0] ?? '');
}
