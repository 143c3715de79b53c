import { describe, expect, test } from 'vitest';
import type { ConfiguredPolicy } from '../../../src/core/policy/configured-policy.js';
import { PressureTriggers, triggersOf } from '../../../src/features/policy/pressure-triggers.js';
import type { Binding } from '../../../src/native/binding.js';
import { condition, ofCgroup } from '../../core/ladder/policies.js';
import { SECOND } from '../../core/support.js';

const about = (text: string, scope: 'node' | 'cgroup' = 'node'): ConfiguredPolicy => ofCgroup([], { when: condition(text, scope) });

describe('the pressure notifiers of policies', () => {
  test.each<[rule: string, policies: readonly ConfiguredPolicy[], triggers: readonly string[]]>([
    ['a quarter of the limit', [about('memory.pressure.full > 40% over 1s')], ['memory full 100000000 1s']],
    ['an average: the period of the kernel', [about('io.pressure.some.avg60 >= 10%')], ['io some 25000000 2s']],
    ['a window that is longer than that', [about('cpu.pressure.some > 50% over 1m')], ['cpu some 125000000 2s']],
    [
      'the smallest share and the shortest window of all',
      [about('memory.pressure.some > 40% over 1s & memory.pressure.full > 20%'), about('memory.pressure.some > 10% over 8s')],
      ['memory some 25000000 1s', 'memory full 50000000 2s'],
    ],
    [
      'the node, also in a policy about cgroups',
      [about('node.memory.pressure.some > 40% & memory.pressure.some > 1%', 'cgroup')],
      ['memory some 100000000 2s'],
    ],
    ['are not armed for falling pressure', [about('memory.pressure.some < 40% & memory.available < 10%')], []],
  ])('%s', (_rule, policies, triggers) => {
    const said = triggersOf(policies).map(
      ({ resource, kind, share, windowNs }) => `${resource} ${kind} ${String(share)} ${String(windowNs / SECOND)}s`,
    );
    expect(said).toEqual(triggers);
  });
});

/** Triggers of a kernel that permits windows of 2 s. */
function kernel() {
  const live = new Map<string, (wake: number, atNs: bigint, detail: number) => void>();
  let refuses = false;
  class PsiTrigger {
    readonly live = true;
    readonly #text: string;

    constructor(file: string, { kind, stallUs, windowUs }: { kind: string; stallUs: number; windowUs: number }, onWake: () => void) {
      if (refuses) throw Object.assign(new Error('refused'), { code: 'EMFILE', syscall: 'open' });
      this.#text = `${file} ${kind} ${String(stallUs)} ${String(windowUs)}`;
      live.set(this.#text, onWake);
    }

    close(): void {
      live.delete(this.#text);
    }
  }
  const native = { PsiTrigger, WAKE: { FIRED: 1, GONE: 2 } } as unknown as Binding;
  return { native, live, refuse: (now: boolean) => (refuses = now) };
}

const cgroup = (version: 1 | 2) => ({ memory: { version, controller: '', mountPoint: '/m', root: '/' } as const, node: '/node' });

test.each<[rule: string, place: ConstructorParameters<typeof PressureTriggers>[1], file: string]>([
  ['the machine', { memory: undefined, node: undefined }, '/proc/pressure/memory'],
  ['a cgroup as the node', cgroup(2), '/m/node/memory.pressure'],
  ['a cgroup of v1 has the pressure of the machine', cgroup(1), '/proc/pressure/memory'],
])('pressure of %s wakes evictd until the notifier is closed', (_rule, place, file) => {
  const { native, live } = kernel();
  let woken = 0;
  const triggers = new PressureTriggers(native, place, [about('memory.pressure.full > 40%')], () => (woken += 1));
  expect([...live.keys()]).toEqual([`${file} full 200000 2000000`]);
  expect([...triggers.live]).toEqual(['memory.pressure.full']);
  for (const wake of live.values()) wake(1, 0n, 0);
  expect(woken).toBe(1);
  triggers.close();
  expect(live.size).toBe(0);
});

test('a notifier that could not be armed is tried again', () => {
  const { native, live, refuse } = kernel();
  refuse(true);
  const triggers = new PressureTriggers(
    native,
    { memory: undefined, node: undefined },
    [about('memory.pressure.full > 40%')],
    () => undefined,
  );
  expect([live.size, triggers.live.size]).toEqual([0, 0]);
  refuse(false);
  triggers.arm();
  expect([live.size, triggers.live.size]).toEqual([1, 1]);
});
