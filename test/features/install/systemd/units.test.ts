import { expect, test } from 'vitest';
import { STARTER_CONFIG } from '../../../../src/features/install/systemd/starter-config.js';
import { serviceUnit, sliceUnit } from '../../../../src/features/install/systemd/units.js';
import { load } from '../../../config/scratch.js';

const options = {
  origin: 'Written by a test',
  program: ['/usr/bin/node', '/usr/lib/evictd/dist/evictd.js'],
  documentation: undefined,
  configFile: '/etc/evictd/config.yaml',
  configDirectory: undefined,
  runtime: [],
  writable: [],
};

/**
 * All values of a key of [Service], in order. What systemd makes of them, test/systemd/install.test.ts asks systemd.
 */
function values(unit: string, key: string): string[] {
  return unit.split('\n').flatMap((line) => (line.startsWith(`${key}=`) ? [line.slice(key.length + 1)] : []));
}

test('the service runs evictd, and a reload checks the same files and signals the main process', () => {
  const unit = serviceUnit({ ...options, configFile: '/etc/my evictd.yaml', configDirectory: '/etc/kubelet.d' });
  const evictd = '/usr/bin/node /usr/lib/evictd/dist/evictd.js';
  const config = '--config "/etc/my evictd.yaml" --config-dir /etc/kubelet.d';
  expect(values(unit, 'ExecStart')).toEqual([`${evictd} run ${config} $RUN_OPTIONS`]);
  expect(values(unit, 'ExecReload')).toEqual([`${evictd} reload --pid $MAINPID ${config}`]);
});

test('the service restores what a killed evictd has throttled or frozen, and nothing else', () => {
  const [line = ''] = values(serviceUnit(options), 'ExecStopPost');
  expect(line).toMatch(/^-\/bin\/sh -c "for held in \/run\/evictd\/held-\*\.json; .*" \/usr\/bin\/node .* restore --restraints$/);
  expect(line).not.toMatch(/[^$]\$[^$]/); // for the shell, not for systemd
});

test('slice and service have the same memory protection', () => {
  const [service, slice] = [serviceUnit(options), sliceUnit('Written by a test')];
  expect(values(service, 'MemoryMin')).toEqual(['128M']);
  expect(values(slice, 'MemoryMin')).toEqual(['128M']);
  expect(values(service, 'Slice')).toEqual(['evictd.slice']);
  expect([values(service, 'MemoryMax'), values(service, 'LimitCORE')]).toEqual([['512M'], ['0']]);
});

test('directories that systemd does not make are writable for the service, and need not exist', () => {
  expect(values(serviceUnit(options), 'ReadWritePaths')).toEqual([]);
  const unit = serviceUnit({ ...options, writable: ['/srv/journal', '/srv/with blank'] });
  expect(values(unit, 'ReadWritePaths')).toEqual(['-/srv/journal "-/srv/with blank"']);
});

test('directories below /run are made at every start', () => {
  expect(values(serviceUnit(options), 'RuntimeDirectory')).toEqual(['evictd']);
  expect(values(serviceUnit({ ...options, runtime: ['a/b', 'with blank', '50%'] }), 'RuntimeDirectory')).toEqual([
    'evictd a/b "with blank" 50%%',
  ]);
});

test('the unit names the operations page if it is installed', () => {
  expect(values(serviceUnit(options), 'Documentation')).toEqual([]);
  expect(values(serviceUnit({ ...options, documentation: '/opt/a b/operations.md' }), 'Documentation')).toEqual([
    'file:///opt/a%20b/operations.md',
  ]);
});

test('the configuration template is valid and changes nothing, and so are its proposals', () => {
  const fresh = load({ 'config.yaml': STARTER_CONFIG });
  expect(fresh.notices).toEqual([]);
  expect(fresh.config).toEqual(load({ 'config.yaml': '' }).config);
  const proposed = STARTER_CONFIG.replace(/^(workloads|rules): \[\]$/gm, '$1:').replace(/^# {2}/gm, '  ');
  const { config } = load({ 'config.yaml': proposed });
  expect(config.workloads).toHaveLength(2);
  expect(config.rules).toHaveLength(2);
});
