import type { Check } from './check.js';
import type { DoctorFacts } from './machine-facts.js';

/**
 * A kind of check: the facts that it reads and its judgement over them. To add one, define it in checks/ and add it
 * to LINUX_CHECKS or WINDOWS_CHECKS (and to docs/doctor.md). A setting of the kernel needs no fact of its own:
 * `kernelFile` reads it.
 */
export interface CheckKind<Facts> {
  /** A promise (docs/doctor.md); a part in capitals varies: 'notifier.SIGNAL'. */
  readonly id: string;
  readonly reads: readonly (keyof Facts)[];
  readonly judge: (facts: Facts) => readonly Check[];
}

export function defineCheck<K extends keyof DoctorFacts>(
  id: string,
  reads: readonly K[],
  judge: (facts: Pick<DoctorFacts, K>, id: string) => Check | readonly Check[],
): CheckKind<Pick<DoctorFacts, K>> {
  return { id, reads, judge: (facts) => [judge(facts, id)].flat() };
}

/** How to read each fact. */
export type FactReaders<Facts> = { readonly [K in keyof Facts]: () => Facts[K] | Promise<Facts[K]> };

/** Facts that are read on first use, and once. */
export type LazyFacts<Facts> = { readonly [K in keyof Facts]: () => Promise<Facts[K]> };

export function lazyFacts<Facts extends object>(readers: FactReaders<Facts>): LazyFacts<Facts> {
  const read = new Map<string, Promise<unknown>>();
  const lazy = Object.entries<() => unknown>(readers).map(([name, reader]) => {
    const once = (): Promise<unknown> => {
      const value = read.get(name) ?? new Promise((resolve) => resolve(reader()));
      read.set(name, value);
      return value;
    };
    return [name, once] as const;
  });
  return Object.fromEntries(lazy) as LazyFacts<Facts>;
}

/**
 * Runs the checks, in their order. Reads only the facts that they declare; facts that wait are read at the same time.
 */
export async function examine<Facts extends object>(kinds: readonly CheckKind<Facts>[], facts: LazyFacts<Facts>): Promise<Check[]> {
  const checks = kinds.map(async ({ reads, judge }) => {
    const values = await Promise.all(reads.map(async (name) => [name, await facts[name]()] as const));
    return judge(Object.fromEntries(values) as Facts);
  });
  return (await Promise.all(checks)).flat();
}
