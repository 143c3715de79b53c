import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect, test } from 'vitest';
import { OOMD_DEFAULTS } from '../../../../src/core/systemd/oomd-settings.js';
import { readOomdFiles } from '../../../../src/host/linux/managed-oom/oomd-files.js';
import { temporaryDirectory } from '../../../support/temporary-directory.js';

function machine(files: Readonly<Record<string, string>>): string {
  const root = temporaryDirectory();
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(`${root}${path}`), { recursive: true });
    writeFileSync(`${root}${path}`, text);
  }
  return root;
}

const limit = (percent: number): string => `[OOM]\nSwapUsedLimit=${String(percent)}%\n`;

test('a machine without systemd-oomd has the defaults of systemd-oomd', () => {
  expect(readOomdFiles(machine({}))).toEqual({ settings: OOMD_DEFAULTS, rules: [] });
});

test.each<[rule: string, files: Readonly<Record<string, string>>, percent: number]>([
  ['the file of /etc replaces that of the package', { '/etc/systemd/oomd.conf': limit(10), '/usr/lib/systemd/oomd.conf': limit(20) }, 10],
  ['a drop-in wins over the file', { '/etc/systemd/oomd.conf': limit(10), '/usr/lib/systemd/oomd.conf.d/1.conf': limit(20) }, 20],
  [
    'the drop-in with the later name counts',
    { '/etc/systemd/oomd.conf.d/2.conf': limit(10), '/usr/lib/systemd/oomd.conf.d/1.conf': limit(20) },
    10,
  ],
  [
    'drop-ins by name, whatever their directory',
    { '/etc/systemd/oomd.conf.d/1.conf': limit(10), '/usr/lib/systemd/oomd.conf.d/2.conf': limit(20) },
    20,
  ],
  [
    'the drop-in in /etc counts among those of one name',
    { '/etc/systemd/oomd.conf.d/1.conf': limit(10), '/usr/lib/systemd/oomd.conf.d/1.conf': limit(20) },
    10,
  ],
  [
    'the drop-in in /usr/lib counts before that in /lib',
    { '/usr/lib/systemd/oomd.conf.d/1.conf': limit(10), '/lib/systemd/oomd.conf.d/1.conf': limit(20) },
    10,
  ],
  ['files without the suffix .conf do not count', { '/etc/systemd/oomd.conf.d/1.conf~': limit(10) }, 90],
])('%s', (_rule, files, percent) => {
  expect(readOomdFiles(machine(files)).settings.swapUsedLimit).toBe(percent / 100);
});

test('a link to /dev/null masks a drop-in of the package', () => {
  const root = machine({ '/usr/lib/systemd/oomd.conf.d/1.conf': limit(20), '/etc/systemd/oomd.conf.d/2.conf': '' });
  symlinkSync('/dev/null', `${root}/etc/systemd/oomd.conf.d/1.conf`);
  expect(readOomdFiles(root).settings).toEqual(OOMD_DEFAULTS);
});

test('rule files have names without the suffix', () => {
  const rule = '[Rule]\nMemoryPressureAbove=40%\nAction=kill-all\n';
  const root = machine({
    '/usr/lib/systemd/oomd/rules.d/b.oomrule': rule,
    '/etc/systemd/oomd/rules.d/a.oomrule': rule,
    '/etc/systemd/oomd/rules.d/c.oomrule': '',
  });
  expect(readOomdFiles(root).rules.map(({ name }) => name)).toEqual(['a', 'b']);
});
