import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };

// The Debian packages that `make packages` has built, as a machine without evictd gets them.

const MIB = 1024 * 1024;
const SYSROOT = '/usr/aarch64-linux-gnu';
const debOf = (architecture: string): string => resolve(`build/deb/evictd_${manifest.version}_${architecture}.deb`);
const run = (command: string, ...args: string[]): string =>
  execFileSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });

const scratch = mkdtempSync(join(tmpdir(), 'evictd-test-deb-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

describe.each(['amd64', 'arm64'])('the Debian package for %s', (architecture) => {
  test('has no finding of lintian', () => {
    expect(run('lintian', '--fail-on', 'error,warning', '--allow-root', debOf(architecture))).toBe('');
  }, 300_000);

  // docs/building.md states the sizes.
  test('is at most 28.5 MiB, and 113 MiB installed', () => {
    expect(statSync(debOf(architecture)).size).toBeLessThan(28.5 * MIB);
    expect(Number(run('dpkg-deb', '--field', debOf(architecture), 'Installed-Size')) / 1024).toBeLessThan(113);
  });
});

test('the package for amd64 installs and checks in a new Debian; removed it leaves configuration and enablement, purged nothing', () => {
  const said = join(scratch, 'said');
  const inside = (line: string): string => `--customize-hook=chroot "$1" sh -euc '${line}' >> ${said}`;
  const left = 'find /etc /run /usr /var -name "*evictd*" ! -path "/var/lib/dpkg/info/*" | sort';
  run(
    'mmdebstrap',
    ...['--quiet', '--mode=root', '--variant=apt', '--format=null', '--aptopt=Acquire::Retries "3"'],
    `--customize-hook=copy-in ${debOf('amd64')} /tmp`,
    inside(`apt-get install --yes --no-install-recommends /tmp/evictd_${manifest.version}_amd64.deb >&2`),
    inside(
      'evictd --version; evictd check -o nagios | cut -d" " -f1; cd /usr/lib/evictd/dist; test -s check.cache && test -s program.cache && echo compiled',
    ),
    inside(`apt-get remove --yes evictd >&2; echo removed:; ${left}`),
    inside(`apt-get purge --yes evictd >&2; echo purged:; ${left}`),
    'bookworm',
    '-',
  );
  const [before = '', after] = readFileSync(said, 'utf8').split('purged:\n');
  const [checked, removed = ''] = before.split('removed:\n');
  expect([checked, after]).toEqual([`${manifest.version}\nOK\ncompiled\n`, '']);
  expect(removed.split('\n').filter((path) => !path.includes('/systemd/'))).toEqual(['/etc/evictd', '']);
}, 900_000);

test('the package for arm64 prints its version, and checks, under emulation', () => {
  run('dpkg-deb', '--extract', debOf('arm64'), scratch);
  const [node, program] = ['node', 'dist/evictd.js'].map((file) => join(scratch, 'usr/lib/evictd', file)) as [string, string];
  const evictd = (...args: string[]): string => run('qemu-aarch64-static', '-L', SYSROOT, node, program, ...args);
  expect(evictd('--version')).toBe(`${manifest.version}\n`);
  expect(JSON.parse(evictd('check', '-o', 'json'))).toMatchObject({ node: { name: 'machine' } });
}, 300_000);
