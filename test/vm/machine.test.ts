import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { numbersIn } from '../../src/core/oom/memory-node.js';
import { hasCapSysResource, hasCgroup2, hasMemoryV1, hasMemoryV2 } from '../native/kernel.js';
import { memoryController } from '../support/cgroup.js';
import { hasSwap } from '../support/swap.js';
import { hasSystemd } from '../support/systemd.js';
import type { Suite } from './suites.js';

// Tests detect what this machine has, and are skipped without what they need. This compares the detection with the
// configuration of the machine: otherwise a mistake would skip tests unnoticed.

const suite = JSON.parse(process.env.EVICTD_VM_SUITE ?? 'null') as Suite | null;

describe.runIf(suite)('the machine of this suite (tried by make vm)', () => {
  const { cgroup, swap, memoryNodes = 1 } = suite?.machine ?? { cgroup: 'v2', swap: false };

  test('has the memory controller in the expected hierarchy', () => {
    expect(memoryController()?.version).toBe(cgroup === 'v2' ? 2 : 1);
    expect({ hasMemoryV1, hasMemoryV2 }).toEqual({ hasMemoryV1: cgroup !== 'v2', hasMemoryV2: cgroup === 'v2' });
  });

  test('has a cgroup2 mount on v2 and hybrid, and none on v1', () => {
    expect(hasCgroup2).toBe(cgroup !== 'v1');
  });

  test('has swap if it is configured', () => {
    expect(hasSwap).toBe(swap);
  });

  test('has its memory divided into the expected nodes', () => {
    expect(numbersIn(readFileSync('/sys/devices/system/node/has_memory', 'latin1'))).toHaveLength(memoryNodes);
  });

  test('gives root every capability that was not dropped', () => {
    const [, effective = '0'] = /^CapEff:\s*(\w+)/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
    const last = Number(readFileSync('/proc/sys/kernel/cap_last_cap', 'utf8'));
    const all = (1n << BigInt(last + 1)) - 1n;
    const capSysResource = 1n << 24n;
    expect(BigInt(`0x${effective}`)).toBe(suite?.without ? all & ~capSysResource : all);
    expect(hasCapSysResource).toBe(!suite?.without);
  });

  test('has systemd as its init', () => {
    expect(hasSystemd).toBe(true);
  });

  test('measures pressure', () => {
    expect(readFileSync('/proc/pressure/memory', 'utf8')).toMatch(/^some avg10=/);
  });
});
