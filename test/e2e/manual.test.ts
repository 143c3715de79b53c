import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';

const pages = readdirSync('dist/man').map((page) => `dist/man/${page}`);

test.each(pages)('mandoc finds nothing in %s, and groff shows it on 80 columns without a warning', (page) => {
  const lint = spawnSync('mandoc', ['-T', 'lint', page], { encoding: 'utf8' });
  expect(lint.stdout).toBe('');
  const { stdout, stderr, status } = spawnSync('man', ['--warnings', '-E', 'UTF-8', '-l', page], {
    encoding: 'utf8',
    env: { PATH: process.env.PATH, MANWIDTH: '80', MANPAGER: 'cat', LC_ALL: 'C.UTF-8' },
  });
  expect({ stderr, status }).toEqual({ stderr: '', status: 0 });
  // oxlint-disable-next-line no-control-regex -- bold and underlined text
  expect(stdout.replace(/.\u0008/g, '')).toContain(
    page.endsWith('.5') ? 'KEYS' : 'EXIT STATUS'.slice(0, page === 'dist/man/evictd.8' ? 0 : undefined),
  );
});

test('whatis finds the manual pages', () => {
  const shown = execFileSync('lexgrog', pages, { encoding: 'utf8' });
  expect(shown.split('\n')).toContain('dist/man/evictd-rank.8: "evictd-rank - show the order of eviction, or the OOM killer\'s beside it"');
});
