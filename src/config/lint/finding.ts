export interface Finding {
  /** `info`: may be intended. */
  readonly level: 'warn' | 'info';
  readonly code: string;
  readonly message: string;
  readonly hint?: string;
  /** The key that it concerns: 'evictionSoft.memory.available', 'rules[2]'. */
  readonly key: string;
}
