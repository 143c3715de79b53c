import { chmodSync, mkdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { unitDirectories } from '../../../../src/features/install/systemd/unit-directories.js';
import { playedMachine, put } from '../machine.js';

interface Expected {
  readonly runtime?: readonly string[];
  readonly writable?: readonly string[];
  readonly steps?: readonly string[];
}

test.each<[rule: string, runtimeDirectory: string, expected: Expected]>([
  ["evictd's default directory is in every unit", 'run/evictd', {}],
  ['below /run systemd makes it', 'run/guard', { runtime: ['guard'] }],
  ['deeper, and by its other name', 'var/run/a/guard', { runtime: ['a/guard'] }],
  ['a directory with a slash at its end', 'run/guard/', { runtime: ['guard'] }],
  ['a directory outside /run is made once', 'srv/guard', { writable: ['srv/guard'], steps: ['make srv/guard'] }],
  ['/run itself is not made', 'run', { writable: ['run'] }],
  ['a name with a colon is made as a step', 'run/a:b', { writable: ['run/a:b'], steps: ['make run/a:b'] }],
  ['an existing directory that is empty', 'run/empty', { runtime: ['empty'] }],
  ['an existing directory that is private', 'run/private', { runtime: ['private'] }],
  ['a directory that others use keeps its mode', 'run/lock', { writable: ['run/lock'], steps: ['keep run/lock'] }],
])('a runtime directory of the unit: %s', (_rule, runtimeDirectory, { runtime = [], writable = [], steps = [] }) => {
  const { machine, at } = playedMachine();
  for (const [path, mode] of [
    ['run/lock', 0o755],
    ['run/private', 0o700],
  ] as const) {
    put(at(`${path}/file`), '');
    chmodSync(at(path), mode);
  }
  mkdirSync(at('run/empty'));
  const { stateDirectory } = machine.places;
  const found = unitDirectories({ metrics: undefined, stateDirectory, runtimeDirectory: at(runtimeDirectory) }, machine.places);
  expect(found).toMatchObject({ runtime, writable: writable.map(at) });
  expect(found.steps.map((step) => `${step.action} ${'path' in step ? step.path : ''}`)).toEqual(
    steps.map((step) => step.replace(/ (.*)/, (_, path: string) => ` ${at(path)}`)),
  );
});

test('a state directory outside /var/lib is made', () => {
  const { machine, at } = playedMachine();
  const { runtimeDirectory } = machine.places;
  expect(unitDirectories({ metrics: undefined, stateDirectory: at('srv/journal'), runtimeDirectory }, machine.places)).toEqual({
    runtime: [],
    writable: [at('srv/journal')],
    steps: [{ action: 'make', path: at('srv/journal') }],
  });
});

test.each<[rule: string, socket: string, writable: string[]]>([
  ['in the runtime directory', 'run/evictd/metrics.sock', []],
  ['in a separate directory', 'run/evictd-metrics/socket', ['run/evictd-metrics']],
])('the metrics socket of the unit: %s', (_rule, socket, writable) => {
  const { machine, at } = playedMachine();
  const { stateDirectory, runtimeDirectory } = machine.places;
  const found = unitDirectories({ metrics: { socket: at(socket) }, stateDirectory, runtimeDirectory }, machine.places);
  expect(found).toEqual({ runtime: [], writable: writable.map(at), steps: [] });
});
