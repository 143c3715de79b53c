import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { evictd } from '../../cli/support.js';

const script = (await evictd(['completion', 'bash'])).stdout;

/** What bash offers for the last word. */
function offered(...words: readonly string[]): string[] {
  const line = words.map((word) => `'${word}'`).join(' ');
  const ask = `${script}\nCOMP_WORDS=(${line}); COMP_CWORD=${String(words.length - 1)}; _evictd 2>/dev/null; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const text = execFileSync('bash', ['--norc', '-c', ask], { encoding: 'utf8', cwd: 'test/vectors', env: { PATH: process.env.PATH } });
  return text.split('\n').filter((word) => word !== '');
}

test.each<[rule: string, words: string[], answer: string[]]>([
  ['commands', ['evictd', 're'], ['reclaim', 'reload', 'resume', 'restore', 'replay']],
  ['commands of a command', ['evictd', 'config', 's'], ['show', 'schema']],
  ['options of the command', ['evictd', 'config', 'check', '--o'], ['--output', '--oom-score-adj', '--offline']],
  ['only options that the command has', ['evictd', 'demo', '--o'], ['--output']],
  ['values', ['evictd', 'check', '--output', ''], ['text', 'json', 'nagios', 'prometheus']],
  ['values of the same option in another command', ['evictd', 'rank', '--output', ''], ['text', 'json']],
  ['values of a short option', ['evictd', 'rank', '-s', 'pid'], ['pid.available']],
  ['values of an option that takes a list', ['evictd', 'check', '--signal', 'pid'], ['pid.available']],
  ['values behind =', ['evictd', 'check', '--output', '=', 'n'], ['nagios']],
  ['an argument', ['evictd', 'completion', ''], ['bash', 'zsh', 'fish', '--help', '--help-all']],
  ['a file as a value', ['evictd', 'run', '--config', 'run.'], ['run.ts']],
  ['a file as an argument', ['evictd', 'replay', 'run.'], ['run.ts']],
  ['with nothing where any text is valid', ['evictd', 'run', '--node-cgroup', 'run'], []],
  ['no command after the name of a command as the value of an option', ['evictd', 'rank', '--limit', 'config', '--ke'], ['--kernel']],
  ['help of everything', ['evictd', '--help-'], ['--help-all']],
  ['nothing that exists only on Windows', ['evictd', 'run', '--workload-'], ['--workload-cgroup', '--workload-slice', '--workload-unit']],
])('bash completes %s', (_rule, words, answer) => {
  expect(offered(...words)).toEqual(answer);
});

test('an unknown shell is refused, with the known ones', async () => {
  const { stderr } = await evictd(['completion', 'bsh']);
  expect(stderr).toContain('Allowed choices are bash, zsh, fish. (Did you mean bash?)');
});
