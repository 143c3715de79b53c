import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { inhibitDelayFile } from '../../../../src/host/linux/systemd/logind-files.js';
import { temporaryDirectory } from '../../../support/temporary-directory.js';

const SET = '[Login]\nInhibitDelayMaxSec=30\n';
const [ETC, RUN, LIB] = ['/etc/systemd', '/run/systemd', '/usr/lib/systemd'];
const [OURS, UPGRADES] = [`${ETC}/logind.conf.d/zz-evictd.conf`, `${LIB}/logind.conf.d/unattended-upgrades-logind-maxdelay.conf`];

test.each<[rule: string, files: Readonly<Record<string, string>>, winner: string | undefined]>([
  ['none', { [`${ETC}/logind.conf`]: '[Login]\n#InhibitDelayMaxSec=5\n' }, undefined],
  ['the main file', { [`${ETC}/logind.conf`]: SET }, `${ETC}/logind.conf`],
  ['a drop-in over the main file, also that of another directory', { [`${ETC}/logind.conf`]: SET, [UPGRADES]: SET }, UPGRADES],
  ['the last name, whatever its directory', { [OURS]: SET, [UPGRADES]: SET }, OURS],
  [
    'a name after that of evictd',
    { [OURS]: SET, [`${LIB}/logind.conf.d/zz-site.conf`]: SET, [`${RUN}/logind.conf.d/a.conf`]: SET },
    `${LIB}/logind.conf.d/zz-site.conf`,
  ],
  ['capitals sort before', { [OURS]: SET, [`${ETC}/logind.conf.d/ZZZ.conf`]: SET }, OURS],
  [
    'a file that sets another key does not count',
    { [OURS]: SET, [`${ETC}/logind.conf.d/zzz.conf`]: '[Login]\nKillUserProcesses=yes\n' },
    OURS,
  ],
  [
    'a file that sets the key in another section does not count',
    { [OURS]: SET, [`${ETC}/logind.conf.d/zzz.conf`]: '[Sleep]\nInhibitDelayMaxSec=1\n' },
    OURS,
  ],
  ['a file of another kind does not count', { [OURS]: SET, [`${ETC}/logind.conf.d/zzz.conf.bak`]: SET }, OURS],
  [
    'the file in /etc counts among those of one name',
    { [`${RUN}/logind.conf.d/zzz.conf`]: SET, [`${ETC}/logind.conf.d/zzz.conf`]: SET },
    `${ETC}/logind.conf.d/zzz.conf`,
  ],
  [
    'a file that /etc masks does not count',
    { [OURS]: SET, [`${ETC}/logind.conf.d/zzz.conf`]: '/dev/null', [`${LIB}/logind.conf.d/zzz.conf`]: SET },
    OURS,
  ],
])('the file that sets InhibitDelayMaxSec: %s', (_rule, files, winner) => {
  const root = temporaryDirectory();
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    if (text === '/dev/null') symlinkSync(text, join(root, path));
    else writeFileSync(join(root, path), text);
  }
  expect(inhibitDelayFile(root)).toBe(winner);
});
