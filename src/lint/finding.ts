/** A sentence about a configuration that can be used, and will not do what it looks like. */
export interface Finding {
  /** `info`: worth knowing, and may well be meant so. */
  readonly level: 'warn' | 'info';
  readonly code: string;
  readonly message: string;
  readonly hint?: string;
  /** The key that it is about, as `config show` writes it: 'evictionSoft.memory.available', 'rules[2]'. */
  readonly key: string;
}
