import { expect, test } from 'vitest';
import { ContainerRuntimes } from '../../src/node/container-runtimes.js';

test('the runtimes are those of the configuration that is in force, with one connection to each', () => {
  const runtimes = new ContainerRuntimes();
  const workloads = [{ cri: { endpoint: 'unix:///nonexistent.sock' } }] as never;
  expect(runtimes.of({ workloads: [] })).toEqual([]);
  const [opened] = runtimes.of({ workloads });
  expect(opened).toBeDefined();
  expect(runtimes.of({ workloads })).toEqual([opened]);
  expect(runtimes.of({ workloads: [] })).toEqual([]);
  runtimes.close();
});
