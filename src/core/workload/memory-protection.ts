/** The usage of a cgroup and its protection, memory.min or memory.low, as `setting`; bytes. */
export interface ProtectedUse {
  readonly usage: number;
  readonly setting: number;
}

/** The parent cgroup, with its effective protection; bytes. */
export interface ProtectingParent {
  readonly usage: number;
  readonly effective: number;
  /** The sum of the claims of all children. */
  readonly childrenProtected: number;
}

/** The protection that a cgroup claims: at most its usage. */
export function claimed({ usage, setting }: ProtectedUse): number {
  return Math.min(usage, setting);
}

/**
 * The bytes that reclaim from outside spares, as the kernel computes them (mm/page_counter.c, effective_protection,
 * Linux 6.12). A cgroup below the root is spared what it asks for. Every other one claims min(usage, setting), and
 *
 *     effective = claimed                                                 if the claims of all children fit into the parent's
 *     effective = claimed × parent's effective ÷ claims of all children   if they do not
 *
 * so that below an unprotected parent nothing is spared. With the mount option memory_recursiveprot what the children do
 * not claim is theirs, too, in proportion to what they use beyond their claims.
 *
 * @param parent  undefined: it is the root
 */
export function effectiveProtection(own: ProtectedUse, parent: ProtectingParent | undefined, isRecursive: boolean): number {
  if (parent === undefined) return own.setting;
  const claim = claimed(own);
  const { effective, childrenProtected, usage } = parent;
  if (childrenProtected > effective) return (claim * effective) / childrenProtected;
  const unclaimed = effective - childrenProtected;
  if (!isRecursive || unclaimed <= 0 || usage <= childrenProtected || own.usage <= claim) return claim;
  return claim + (unclaimed * (own.usage - claim)) / (usage - childrenProtected);
}
