// make oci, make oci-arm64: the built tree as an image for containers, build/oci/evictd_VERSION_ARCHITECTURE.tar (an OCI
// archive). It needs buildah, and Debian's libraries for that processor.
//
//   tsx packaging/oci/build.ts [--out FILE] [--arch amd64|arm64] [--level LEVEL]
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import manifest from '../../package.json' with { type: 'json' };
import { lastChange } from '../last-change.js';
import {
  architectureOf,
  ARCHITECTURES,
  copyright,
  mebibytes,
  plantProgram,
  PROGRAM,
  treeBelow,
  type Architecture,
} from '../program-tree.js';

const LOADER: Readonly<Record<Architecture, string>> = {
  amd64: '/lib64/ld-linux-x86-64.so.2',
  arm64: '/lib/ld-linux-aarch64.so.1',
};
/** What Node and the addon name as needed (readelf -d). glibc asks DNS and reads /etc/hosts without further ones. */
const LIBRARIES = ['libc.so.6', 'libm.so.6', 'libdl.so.2', 'libpthread.so.0', 'libgcc_s.so.1', 'libstdc++.so.6'];
/** Debian's packages of them, whose licences require their text. */
const LICENCES = ['libc6', 'libstdc++6'];

const { values } = parseArgs({
  options: { out: { type: 'string' }, arch: { type: 'string', default: 'amd64' }, level: { type: 'string', default: '19' } },
});
const architecture = architectureOf(values.arch);
const out = resolve(values.out ?? `build/oci/evictd_${manifest.version}_${architecture}.tar`);

mkdirSync(dirname(out), { recursive: true });
const scratch = mkdtempSync(`${out}.`);
try {
  const root = join(scratch, 'root');
  plantRoot(root);
  execFileSync('chmod', ['-R', 'go=rX', root]); // whatever the umask was
  copyFileSync(join(import.meta.dirname, 'Containerfile'), join(scratch, 'Containerfile'));
  const name = `evictd:${manifest.version}`;
  const buildah = (command: string, ...args: readonly string[]): void => {
    const store = ['--root', join(scratch, 'store'), '--runroot', join(scratch, 'run'), '--storage-driver', 'vfs'];
    execFileSync('buildah', [...store, command, '--quiet', ...args], { stdio: ['ignore', 'ignore', 'inherit'] });
  };
  rmSync(out, { force: true });
  buildah('build', '--format', 'oci', '--arch', architecture, '--timestamp', lastChange(), '--tag', name, scratch);
  // gzip, which older runtimes need, makes it a fifth larger.
  buildah('push', '--compression-format', 'zstd', '--compression-level', values.level, name, `oci-archive:${out}:${name}`);
  const unpacked = readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
  process.stdout.write(`${out}: ${mebibytes(statSync(out).size)}, ${mebibytes(unpacked)} unpacked\n`);
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

function plantRoot(root: string): void {
  const tree = treeBelow(root);
  plantProgram(tree, architecture, true);
  mkdirSync(join(root, '/usr/bin'));
  symlinkSync(PROGRAM[1], join(root, '/usr/bin/evictd'));
  const { triplet } = ARCHITECTURES[architecture];
  const places = [`/lib/${triplet}`, `/usr/lib/${triplet}`, `/usr/${triplet}/lib`]; // the last: of the cross compiler
  const found = (name: string): string => {
    const path = places.map((place) => join(place, name)).find((candidate) => existsSync(candidate));
    if (path === undefined) throw new Error(`${name} for ${architecture} is in none of ${places.join(', ')}`);
    return realpathSync(path);
  };
  const loader = LOADER[architecture];
  tree.copy(found(loader.slice(loader.lastIndexOf('/') + 1)), loader);
  for (const name of LIBRARIES) tree.copy(found(name), `/lib/${triplet}/${name}`);
  tree.write('/usr/share/doc/evictd/copyright', copyright(architecture));
  for (const name of LICENCES) tree.copy(`/usr/share/doc/${name}/copyright`, `/usr/share/doc/${name}/copyright`);
}
