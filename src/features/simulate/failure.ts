import { ConfigError, EvictdError, InputError, UsageError, type ConfigIssue } from '../../errors.js';

/** An error without its class: each bundle has error classes of its own. */
export interface Failure {
  readonly kind: 'usage' | 'input' | 'config' | 'other';
  readonly code: string;
  readonly message: string;
  readonly hint: string | undefined;
  /** Of `input`. */
  readonly isMissing: boolean;
  /** Of `config`. */
  readonly issues: readonly ConfigIssue[];
}

/** @throws what is no error of evictd */
export function failureOf(error: unknown): Failure {
  if (!(error instanceof EvictdError)) throw error;
  const { code, message, hint } = error;
  const kind =
    error instanceof UsageError ? 'usage' : error instanceof InputError ? 'input' : error instanceof ConfigError ? 'config' : 'other';
  const isMissing = error instanceof InputError && error.isMissing;
  return { kind, code, message, hint, isMissing, issues: error instanceof ConfigError ? error.issues : [] };
}

export function errorOf({ kind, code, message, hint, isMissing, issues }: Failure): EvictdError {
  const options = hint === undefined ? {} : { hint };
  switch (kind) {
    case 'usage':
      return new UsageError(code, message, options);
    case 'input':
      return new InputError(code, message, { ...options, isMissing });
    case 'config':
      return new ConfigError(issues);
    case 'other':
      return new EvictdError(code, message, options);
  }
}
