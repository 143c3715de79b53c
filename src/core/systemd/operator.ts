/** A user who administers the machine. */
export interface Operator {
  readonly uid: number;
  readonly name: string;
  /** 'member of group sudo', '/etc/sudoers.d/ann', 'member of group ops, /etc/sudoers' */
  readonly because: readonly string[];
}

export interface FoundOperators {
  readonly operators: readonly Operator[];
  /** Files that exist and cannot be read. */
  readonly unread: readonly string[];
}
