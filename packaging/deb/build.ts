// make deb, make deb-arm64: the built tree as a Debian package that carries its own Node,
// build/deb/evictd_VERSION_ARCHITECTURE.deb. It needs dpkg-deb, and strip for that processor.
//
//   tsx packaging/deb/build.ts [--out FILE] [--version VERSION] [--arch amd64|arm64] [--compression xz|none]
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import manifest from '../../package.json' with { type: 'json' };
import { lastChange } from '../last-change.js';
import { architectureOf, mebibytes } from '../program-tree.js';
import { changelog, control } from './control.js';
import { CONFFILES, plantTree } from './tree.js';

const SCRIPTS = ['postinst', 'prerm', 'postrm'];

const { values } = parseArgs({
  options: {
    out: { type: 'string' },
    version: { type: 'string', default: manifest.version },
    arch: { type: 'string', default: 'amd64' },
    compression: { type: 'string', default: 'xz' },
  },
});

const arch = architectureOf(values.arch);
const { version, compression, out = `build/deb/evictd_${version}_${arch}.deb` } = values;
const changed = lastChange();

mkdirSync(dirname(out), { recursive: true });
const root = mkdtempSync(`${out}.`);
try {
  chmodSync(root, 0o755);
  plantTree(root, arch, changelog(version, changed));
  const files = readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  const installedBytes = files.reduce((sum, file) => sum + statSync(file).size, 0);
  const sums = files
    .map((file) => `${createHash('md5').update(readFileSync(file)).digest('hex')}  ${file.slice(root.length + 1)}\n`)
    .sort();
  mkdirSync(join(root, 'DEBIAN'));
  writeFileSync(join(root, 'DEBIAN/control'), control(version, arch, installedBytes));
  writeFileSync(join(root, 'DEBIAN/conffiles'), CONFFILES.map((file) => `${file}\n`).join(''));
  writeFileSync(join(root, 'DEBIAN/md5sums'), sums.join(''));
  for (const script of SCRIPTS) {
    copyFileSync(join(import.meta.dirname, script), join(root, 'DEBIAN', script));
    chmodSync(join(root, 'DEBIAN', script), 0o755);
  }
  execFileSync('chmod', ['-R', 'go=rX', root]); // whatever the umask was
  // xz -9e takes three times as long for 1 %, and unpacking 64 MiB of memory.
  execFileSync('dpkg-deb', ['--root-owner-group', `-Z${compression}`, '--build', root, out], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, SOURCE_DATE_EPOCH: changed },
  });
  process.stdout.write(`${out}: ${mebibytes(statSync(out).size)}, ${mebibytes(installedBytes)} installed\n`);
} finally {
  rmSync(root, { recursive: true, force: true });
}
