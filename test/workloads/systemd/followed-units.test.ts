import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { cgroupDirectory } from '../../../src/core/workload/cgroup.js';
import { SystemdUnits } from '../../../src/host/linux/systemd/unit-manager.js';
import type { WorkloadSource } from '../../../src/monitor/ports/ports.js';
import { native } from '../../../src/native/index.js';
import { openWorkloads } from '../../../src/workloads/cgroup/cgroup-workloads.js';
import { BusPeer } from '../../host/linux/systemd/bus-peer.js';
import { memoryHierarchy, testCgroup, type TestCgroup } from '../../support/cgroup.js';
import { eventually } from '../../support/eventually.js';

const hierarchy = memoryHierarchy();
const identity = { name: 'machine', cgroup: undefined, cgroupVersion: hierarchy.version };
let top: TestCgroup;

beforeEach(() => {
  top = testCgroup();
});
afterEach(async () => {
  await top.cleanup();
});

/** systemd's facts about every unit that it is asked about. */
async function openUnits(): Promise<SystemdUnits> {
  const peer = await BusPeer.open();
  peer.answer = ({ member }) =>
    member === 'GetAll' ? { signature: 'a{sv}', body: [[['ActiveState', ['s', 'active']]]] } : { signature: '', body: [] };
  const units = new SystemdUnits([{ path: peer.path, daemon: false }]);
  onTestFinished(() => {
    units.close();
  });
  await eventually('it is reached', () => units.connect());
  return units;
}

test('facts about the units of one source stay while another source is read, as for managed units', async () => {
  const units = await openUnits();
  const open = (name: string): WorkloadSource => {
    top.child(`${name}.slice`).child(`${name}.service`);
    // Units are in slices from the root on.
    const below = { ...hierarchy, mountPoint: cgroupDirectory(hierarchy, top.path) };
    const config = { workloads: [{ cgroup: `/${name}.slice` }], rules: [] };
    return openWorkloads(config, native, { identity, hierarchy: below }, true, { units });
  };
  const [configured, managed] = [open('configured'), open('managed')];
  onTestFinished(() => {
    configured.close();
    managed.close();
  });
  const known = (): string[] => ['configured', 'managed'].filter((name) => units.unit(`${name}.service`) !== undefined);
  configured.refresh();
  await eventually('one is known', () => known().length === 1);
  managed.refresh();
  expect(known()).toContain('configured');
  await eventually('both are known', () => known().length === 2);
  configured.refresh();
  expect(known()).toHaveLength(2);
  managed.close();
  configured.refresh();
  expect(known()).toEqual(['configured']);
});
