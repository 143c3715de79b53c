import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';

const directory = mkdtempSync(join(tmpdir(), 'evictd-test-completion-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

for (const shell of ['zsh', 'fish']) {
  writeFileSync(join(directory, shell), execFileSync(process.execPath, ['dist/evictd.js', 'completion', shell]));
}

/** Types a line and Tab in an interactive zsh, and prints what it shows until the list is there. */
const IN_ZSH = `
zmodload zsh/zpty
zpty z zsh -f -i
zpty -w z 'PS1=; autoload -U compinit; compinit -u -D; source ./zsh; LISTMAX=1000; bindkey "^I" list-choices; echo READY'
zpty -r z out '*READY*READY*'
zpty -w -n z "$1"$'\\t'
zpty -r z out "*$2*" && print -r -- "$out"
zpty -d z
`;

function inShell(shell: 'zsh' | 'fish', line: string, last: string): string {
  const [command, ...args] =
    shell === 'zsh'
      ? ['zsh', '-f', '-c', IN_ZSH, 'zsh', line, last]
      : ['fish', '--no-config', '-c', `source ./fish; complete -C ${JSON.stringify(line)}`];
  return execFileSync(command, args, { cwd: directory, encoding: 'utf8', env: { PATH: process.env.PATH, HOME: directory, TERM: 'dumb' } });
}

test.each<['zsh' | 'fish', string, string[]]>(
  (['zsh', 'fish'] as const).flatMap((shell): ['zsh' | 'fish', string, string[]][] => [
    [shell, 'evictd ', ['check', 'compare the node with the thresholds once', 'uninstall']],
    [shell, 'evictd config ', ['check', 'report errors, and settings without effect', 'show each value']],
    [shell, 'evictd config check --o', ['--offline', 'do not compare with this machine', '--output']],
    [shell, 'evictd check --output ', ['json', 'nagios', 'text']],
    [shell, 'evictd rank -s nodefs', ['nodefs.available', 'nodefs.inodesFree']],
  ]),
)('%s completes %j', (shell, line, words) => {
  const shown = inShell(shell, line, words.at(-1) ?? '');
  for (const word of words) expect(shown).toContain(word);
  expect(shown).not.toContain('--workload-job');
});
