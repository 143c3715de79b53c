import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { expect, test } from 'vitest';
import { COMMANDS } from '../../src/cli/commands.js';
import { HELP_WIDTH, withHelp } from '../../src/cli/output/help.js';
import { temporaryDirectory } from '../support/temporary-directory.js';
import { evictd } from './support.js';

test.each<[rule: string, args: string[], message: string, hint: string]>([
  ['an unknown option', ['run', '--foo'], "unknown option '--foo'", 'evictd run --help'],
  [
    'an unknown option with a similar existing one',
    ['run', '--dry-rum'],
    "unknown option '--dry-rum' (Did you mean --dry-run?)",
    'evictd run --help',
  ],
  ['an option without its value', ['rank', '--config'], "option '--config <file>' argument missing", 'evictd rank --help'],
  [
    'an unknown option of a subcommand',
    ['config', 'show', 'x'],
    "too many arguments for 'show'. Expected 0 arguments but got 1.",
    'evictd config show --help',
  ],
  ['an unknown command', ['xyzzy'], "unknown command 'xyzzy'", 'evictd --help'],
  ['an unknown command below a command', ['config', 'nope'], "unknown command 'nope'", 'evictd config --help'],
  ['an unknown command with --help', ['xyzzy', '--help'], "unknown command 'xyzzy'", 'evictd --help'],
  ['an unknown command with a similar existing one', ['chek'], "unknown command 'chek' (Did you mean check?)", 'evictd --help'],
  [
    'an unknown command with a similar existing one and --help',
    ['chek', '--help'],
    "unknown command 'chek' (Did you mean check?)",
    'evictd --help',
  ],
  [
    'an unknown command with a similar existing one and -h behind other words',
    ['chek', 'it', '-h'],
    "unknown command 'chek' (Did you mean check?)",
    'evictd --help',
  ],
  [
    'an unknown subcommand with a similar existing one and -h',
    ['config', 'chek', '--help'],
    "unknown command 'chek' (Did you mean check?)",
    'evictd config --help',
  ],
  ['a command that exists only below another', ['schema'], "unknown command 'schema' (Did you mean config schema?)", 'evictd --help'],
  [
    'a name that the documentation uses for a command',
    ['lint', '-h'],
    "unknown command 'lint' (Did you mean config check?)",
    'evictd --help',
  ],
  ['help for an unknown command', ['help', 'nope'], "unknown command 'nope'", 'evictd --help'],
  ['help for an unknown command below a command', ['help', 'config', 'nope'], "unknown command 'config nope'", 'evictd --help'],
  ['a command’s help for an unknown command', ['config', 'help', 'nope'], "unknown command 'nope'", 'evictd config --help'],
])('a usage error: %s', async (_rule, args, message, hint) => {
  const { stdout, stderr, exit } = await evictd(args);
  expect({ stdout, stderr }).toEqual({ stdout: '', stderr: `evictd: EVICTD_USAGE: ${message}\n  hint: ${hint}\n` });
  expect(exit).toBeGreaterThan(0);
});

test('a wrong choice causes a hint with the similar choice', async () => {
  const { stderr } = await evictd(['rank', '--signal', 'memory.availble']);
  expect(stderr).toMatch(/Allowed choices are .* \(Did you mean memory\.available\?\)\n {2}hint: evictd rank --help\n$/);
  expect((await evictd(['rank', '--signal', 'xyz'])).stderr).not.toContain('Did you mean');
});

test.each<[args: string[], usage: string]>([
  [['help'], 'Usage: evictd [options] [command]\n'],
  [['--help'], 'Usage: evictd [options] [command]\n'],
  [['run', '--help'], 'Usage: evictd run [options]\n'],
  [['config', '--help'], 'Usage: evictd config [options] [command]\n'],
  [['config', 'show', '--help'], 'Usage: evictd config show [options]\n'],
  [['help', 'config'], 'Usage: evictd config [options] [command]\n'],
  [['help', 'run'], 'Usage: evictd run [options]\n'],
  [['help', 'config', 'show'], 'Usage: evictd config show [options]\n'],
  [['config', 'help', 'show'], 'Usage: evictd config show [options]\n'],
])('%j', async (args, usage) => {
  const { stdout, stderr, exit } = await evictd(args);
  expect({ stderr, exit }).toEqual({ stderr: '', exit: 0 });
  expect(stdout.startsWith(usage)).toBe(true);
});

test('a new command is one module and one line in the list', async () => {
  const loaded: string[] = [];
  const list = {
    toy: () => {
      loaded.push('toy');
      return Promise.resolve(({ io, setExitCode }: Parameters<Awaited<ReturnType<(typeof COMMANDS)[string]>>>[0]) =>
        withHelp(new Command('toy').description('a toy').option('--loud', 'in capitals'), {
          about: ['Says hello.'],
          examples: ['evictd toy --loud'],
          exit: { 3: 'said' },
        }).action(({ loud }: { loud?: true }) => {
          io.stdout(loud ? 'HELLO' : 'hello');
          setExitCode(3);
        }),
      );
    },
    other: () => {
      loaded.push('other');
      return Promise.resolve(() => new Command('other').description('another toy'));
    },
  };
  expect(await evictd(['toy', '--loud'], list)).toEqual({ stdout: 'HELLO', stderr: '', exit: 3 });
  expect(loaded).toEqual(['toy']); // no other module
  expect((await evictd(['toy', '--help'], list)).stdout).toMatch(
    /Says hello\.\n\nExamples:\n {2}evictd toy --loud\n\nExit codes: 3 said\n$/,
  );
  expect((await evictd(['--help'], list)).stdout).toMatch(/^Commands:\n {2}toy +a toy\n {2}other +another toy\n/m);
});

/** Every command line that has help. */
const HELPED = [...Object.keys(COMMANDS), ...['check', 'show', 'schema', 'init', 'import'].map((name) => `config ${name}`)];
const longest = (text: string): number => Math.max(...text.split('\n').map(({ length }) => length));

test.each(['', ...HELPED])('evictd %s --help fits on a screen of 80 columns and 24 lines', async (words) => {
  const { stdout } = await evictd([...words.split(' ').filter((word) => word !== ''), '--help']);
  expect(longest(stdout)).toBeLessThanOrEqual(HELP_WIDTH);
  expect(stdout.split('\n').length).toBeLessThanOrEqual(24);
  if (words === '' || words === 'config') return; // these only hold commands
  expect(stdout).toMatch(/\n\nExamples?:\n {2}\S/);
  const { stdout: whole } = await evictd([...words.split(' '), '--help-all']);
  expect(whole).toMatch(/\n\nExamples:\n {2}\S.*(\n {2,4}\S.*)*\n\nExit codes: \d+ .*\n( {2}.*\n)*$/);
  expect(whole.replace(/\s+/g, ' ')).not.toContain(') ('); // one pair of parentheses an option
});

test.each([40, 120])('help is wrapped at the width of the terminal: %d columns', async (columns) => {
  const widths = await Promise.all(
    ['run', 'demo', 'resume'].map(async (name) =>
      longest((await evictd([name, '--help'], undefined, columns)).stdout.replace(/Examples?:\n( .*\n)*/, '')),
    ),
  );
  expect(Math.max(...widths)).toBeLessThanOrEqual(columns);
  expect(Math.max(...widths)).toBeGreaterThan(columns - 12);
});

test('--help lists the options of a command and names those that it shares, which --help-all lists', async () => {
  const { stdout: short } = await evictd(['run', '--help']);
  const { stdout: whole } = await evictd(['run', '--help-all']);
  expect(short).toMatch(/^Options:\n {2}--dry-run +decide/m);
  expect(short).toMatch(/^ {2}Kubelet flags: {2}--eviction-hard, --eviction-soft, .*…$/m);
  expect(short).not.toMatch(/^ {2}--(config|record|eviction-hard)\b/m);
  for (const line of [/^ {2}--config <file>/m, /^ {2}--record <file>/m, /^ {2}--eviction-hard <thresholds>/m]) expect(whole).toMatch(line);
  expect(whole).not.toContain('More options');
  expect((await evictd(['--help'])).stdout).toMatch(
    /^More commands: .*\n {2}.*restore, replay, simulate, demo,\n {2}controller, completion$/m,
  );
  expect((await evictd(['--help-all'])).stdout).toMatch(/^ {2}replay <file> +replay a recorded run/m);
});

test.each(HELPED)('%s --help-all names nothing of Windows on Linux', async (words) => {
  const { stdout } = await evictd([...words.split(' '), '--help-all']);
  expect(stdout).not.toMatch(/Windows|ProgramData|--workload-job/);
});

test('after -- --help-all is an ordinary argument', async () => {
  await expect(evictd(['config', 'import', '--from', 'earlyoom', '--', '--help-all'])).rejects.toThrow('1 configuration error');
});

test('run --help-all lists every exit code', async () => {
  const [, exits = ''] = (await evictd(['run', '--help-all'])).stdout.split('Exit codes:');
  expect(exits.match(/\b\d+\b/g)).toEqual(['0', '1', '64', '75', '78']);
});

test.each<[code: string, args: string[]]>([
  ['EVICT', ['evict', 'web']],
  ['DRAIN', ['drain']],
  ['DRAIN', ['cordon']],
  ['DRAIN', ['uncordon']],
  ['PAUSE', ['pause', '1m', '--reason', 'a test']],
  ['TAINT', ['taint']],
  ['TAINT', ['taint', 'a:NoSchedule']],
])('without a running evictd the error code is EVICTD_%s_NO_INSTANCE for %j', async (code, args) => {
  const found = await evictd([...args, '--runtime-directory', '/nonexistent']).catch((error: unknown) => error);
  expect(found).toMatchObject({ code: `EVICTD_${code}_NO_INSTANCE`, message: 'no evictd guards this node' });
});

test.each<[args: string[]]>([[['pause', '1m', '--reason', 'a test']], [['resume']]])(
  'an error in the configuration file does not keep an operator from %j',
  async (args) => {
    const file = join(temporaryDirectory(), 'config.yaml');
    writeFileSync(file, 'rules: 7\n', { mode: 0o600 });
    const found = await evictd([...args, '--config', file, '--runtime-directory', '/nonexistent']).catch((error: unknown) => error);
    const hint = expect.stringMatching(/ name its file with --config$/) as string;
    expect(found).toMatchObject({ code: expect.stringMatching(/_NO_INSTANCE$/) as string, hint });
  },
);
