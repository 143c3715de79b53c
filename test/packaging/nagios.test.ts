import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { checkCommand } from '../../src/features/check/command.js';
import { signalThresholds } from '../../src/features/check/signal-thresholds.js';

const FILES = ['nagios/evictd.cfg', 'nagios/nrpe.cfg', 'icinga2/evictd.conf'];
const text = (file: string): string => readFileSync(`packaging/${file}`, 'utf8');

test.each(FILES)('%s has only options that check has', (file) => {
  const open = () => expect.unreachable('nothing is read');
  const { options } = checkCommand({
    io: { stdout: open, stderr: open, isTTY: false, env: {} },
    setExitCode: open,
    open,
    openPlaced: open,
  });
  const used = text(file).match(/(?<=[\s"])--[a-z-]+/g) ?? [];
  expect(used).toContain('--signal');
  expect(used.filter((flag) => !options.some(({ long }) => long === flag))).toEqual([]);
});

const commands = text('nagios/nrpe.cfg').match(/^command\[.*--signal.*$/gm) ?? [];
test.each(commands)('%s has valid thresholds', (command) => {
  const [, signal = '', warning = '', critical = ''] = /--signal (\S+) --warning (\S+) --critical (\S+)$/.exec(command) ?? [];
  expect(signalThresholds({ signal, warning, critical })).toHaveLength(2);
});

test('the packages have the folders of all monitoring systems', () => {
  const { files } = JSON.parse(text('../package.json')) as { files: string[] };
  const folders = readdirSync('packaging').filter((name) => !/\.[jt]s$|^(deb|manual|oci)$/.test(name));
  expect(folders).toContain('nagios');
  expect(folders.filter((folder) => !files.includes(`packaging/${folder}`))).toEqual([]);
  expect(folders.filter((folder) => !/MONITORING = .*/.exec(text('deb/tree.ts'))?.[0].includes(`'${folder}'`))).toEqual([]);
});
