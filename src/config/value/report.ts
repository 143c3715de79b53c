import { ConfigError, type ConfigIssue, type SourcePosition } from '../../errors.js';

/** A warning or a remark about a valid configuration. */
export interface ConfigNotice {
  readonly level: 'warn' | 'info';
  readonly code: string;
  readonly message: string;
  readonly hint?: string;
  readonly position?: SourcePosition;
}

/** Collects the issues and notices of a configuration, so that all are reported at once. */
export class Report {
  readonly issues: ConfigIssue[] = [];
  readonly notices: ConfigNotice[] = [];

  issue(code: string, message: string, position: SourcePosition, hint?: string): void {
    this.issues.push({ code, message, position, ...(hint === undefined ? {} : { hint }) });
  }

  notice(level: ConfigNotice['level'], code: string, message: string, options: { hint?: string; position?: SourcePosition } = {}): void {
    this.notices.push({ level, code, message, ...options });
  }

  /**
   * @param files  in the order of the issues; those of flags come last
   * @throws ConfigError  with every issue, each file from top to bottom
   */
  throwIssues(files: readonly string[]): void {
    if (this.issues.length === 0) return;
    const rank = ({ position }: ConfigIssue): number => (files.includes(position.file) ? files.indexOf(position.file) : files.length);
    const inOrder = (a: ConfigIssue, b: ConfigIssue): number =>
      rank(a) - rank(b) ||
      (rank(a) === files.length
        ? 0
        : (a.position.line ?? 0) - (b.position.line ?? 0) || (a.position.column ?? 0) - (b.position.column ?? 0));
    throw new ConfigError(this.issues.toSorted(inOrder));
  }
}
