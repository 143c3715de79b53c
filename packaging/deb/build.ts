// make deb: the built tree as a Debian package that carries its own Node, build/deb/evictd_VERSION_amd64.deb. Nothing
// but dpkg-deb is needed.
//
//   tsx packaging/deb/build.ts [--out FILE] [--version VERSION] [--compression xz|none]
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import manifest from '../../package.json' with { type: 'json' };
import { lastChange } from '../last-change.js';
import { control } from './control.js';
import { CONFFILES, plantTree } from './tree.js';

const MIB = 1024 * 1024;
const SCRIPTS = ['postinst', 'prerm', 'postrm'];

const { values } = parseArgs({
  options: {
    out: { type: 'string', default: `build/deb/evictd_${manifest.version}_amd64.deb` },
    version: { type: 'string', default: manifest.version },
    compression: { type: 'string', default: 'xz' },
  },
});

mkdirSync(dirname(values.out), { recursive: true });
const root = mkdtempSync(`${values.out}.`);
try {
  chmodSync(root, 0o755);
  plantTree(root);
  const files = readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  const installedBytes = files.reduce((sum, file) => sum + statSync(file).size, 0);
  const sums = files
    .map((file) => `${createHash('md5').update(readFileSync(file)).digest('hex')}  ${file.slice(root.length + 1)}\n`)
    .sort();
  mkdirSync(join(root, 'DEBIAN'));
  writeFileSync(join(root, 'DEBIAN/control'), control(values.version, installedBytes));
  writeFileSync(join(root, 'DEBIAN/conffiles'), CONFFILES.map((file) => `${file}\n`).join(''));
  writeFileSync(join(root, 'DEBIAN/md5sums'), sums.join(''));
  for (const script of SCRIPTS) {
    copyFileSync(join(import.meta.dirname, script), join(root, 'DEBIAN', script));
    chmodSync(join(root, 'DEBIAN', script), 0o755);
  }
  execFileSync('chmod', ['-R', 'go=rX', root]); // whatever the umask was
  execFileSync('dpkg-deb', ['--root-owner-group', `-Z${values.compression}`, '--build', root, values.out], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, SOURCE_DATE_EPOCH: lastChange() },
  });
  const mib = (bytes: number): string => `${(bytes / MIB).toFixed(1)} MiB`;
  process.stdout.write(`${values.out}: ${mib(statSync(values.out).size)}, ${mib(installedBytes)} installed\n`);
} finally {
  rmSync(root, { recursive: true, force: true });
}
