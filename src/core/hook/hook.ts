/** A program that evictd runs at every eviction. */
export interface HookCommand {
  /** Absolute path and arguments. */
  readonly argv: readonly string[];
  /** It is ended after this time. */
  readonly timeoutNs: bigint;
}

/** The signal waits for it, at most until its deadline. */
export interface Deadline {
  readonly deadlineNs: bigint;
}

/** undefined: not configured. */
export interface HooksConfig {
  readonly preEvict: (HookCommand & Deadline) | undefined;
  readonly postEvict: HookCommand | undefined;
  /** The sockets of io.systemd.oom.Prekill are called. The signal waits as long as for `preEvict`. */
  readonly prekill: Deadline | undefined;
}

export type HookName = keyof HooksConfig;

/** Of the evictions of one policy, in place of those of all evictions. */
export type PolicyHooks = Partial<Pick<HooksConfig, 'preEvict' | 'postEvict'>>;

export interface HookSettings {
  readonly hooks: HooksConfig;
  readonly policies: readonly { readonly name: string; readonly hooks?: PolicyHooks }[];
}

/** The hooks that at least one eviction has. */
export function configuredHooks({ hooks, policies }: HookSettings): readonly HookName[] {
  const all = [hooks, ...policies.map((policy): PolicyHooks => policy.hooks ?? {})];
  return HOOK_NAMES.filter((name) => all.some((some: Partial<HooksConfig>) => some[name] !== undefined));
}

/** The programs of all hooks, by their configuration key. */
export function hookCommands({ hooks, policies }: HookSettings): readonly (HookCommand & { readonly key: string })[] {
  const of = (prefix: string, { preEvict, postEvict }: PolicyHooks) =>
    Object.entries({ preEvict, postEvict }).flatMap(([name, hook]) =>
      hook === undefined ? [] : [{ ...hook, key: `${prefix}hooks.${name}` }],
    );
  return [...of('', hooks), ...policies.flatMap((policy, index) => of(`policies[${String(index)}].`, policy.hooks ?? {}))];
}

const HOOK_NAMES = ['preEvict', 'postEvict', 'prekill'] as const satisfies readonly HookName[];

/**
 * `late`: the deadline has passed, and the eviction went on; the hook may still run. `refused`: it was not run, because
 * it is missing, another user could change it, or too many hooks run.
 */
export const HOOK_RESULTS = ['succeeded', 'failed', 'late', 'refused'] as const;
export type HookResult = (typeof HOOK_RESULTS)[number];
