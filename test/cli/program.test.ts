import { CommanderError } from 'commander';
import { expect, test } from 'vitest';
import { program } from '../../src/cli/program.js';

/** Runs the whole command line; `code` is commander's. */
async function evictd(...args: string[]): Promise<{ stdout: string; stderr: string; exit: number | undefined }> {
  const ended = { stdout: '', stderr: '', exit: undefined as number | undefined };
  const io = {
    stdout: (text: string) => void (ended.stdout += text),
    stderr: (text: string) => void (ended.stderr += text),
    isTTY: false,
    env: {},
  };
  const never = (): never => {
    throw new Error('nothing is started here');
  };
  const command = program({ io, logsToTerminal: false, setExitCode: (code) => (ended.exit = code), onStop: never, onReload: never });
  try {
    await command.parseAsync(args, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    ended.exit ??= error.exitCode;
  }
  return ended;
}

test.each<[rule: string, args: string[], message: string, hint: string]>([
  ['an unknown option', ['run', '--foo'], "unknown option '--foo'", 'evictd run --help'],
  ['one that was nearly right', ['run', '--dry-rum'], "unknown option '--dry-rum' (Did you mean --dry-run?)", 'evictd run --help'],
  ['an option without its value', ['rank', '--config'], "option '--config <file>' argument missing", 'evictd rank --help'],
  [
    'of a command below a command',
    ['config', 'show', 'x'],
    "too many arguments for 'show'. Expected 0 arguments but got 1.",
    'evictd config show --help',
  ],
  ['an unknown command', ['nope'], "unknown command 'nope'", 'evictd --help'],
  ['an unknown command below a command', ['config', 'nope'], "unknown command 'nope'", 'evictd config --help'],
  ['an unknown command with --help', ['nope', '--help'], "unknown command 'nope'", 'evictd --help'],
  ['one that was nearly right', ['chek'], "unknown command 'chek' (Did you mean check?)", 'evictd --help'],
  ['one that was nearly right with --help', ['chek', '--help'], "unknown command 'chek' (Did you mean check?)", 'evictd --help'],
  ['the same with -h behind other words', ['chek', 'it', '-h'], "unknown command 'chek' (Did you mean check?)", 'evictd --help'],
  ['the same below a command', ['config', 'chek', '--help'], "unknown command 'chek' (Did you mean check?)", 'evictd config --help'],
  ['help for an unknown command', ['help', 'nope'], "unknown command 'nope'", 'evictd --help'],
  ['help for an unknown command below a command', ['help', 'config', 'nope'], "unknown command 'config nope'", 'evictd --help'],
  ['a command’s help for an unknown command', ['config', 'help', 'nope'], "unknown command 'nope'", 'evictd config --help'],
])('a usage error: %s', async (_rule, args, message, hint) => {
  const { stdout, stderr, exit } = await evictd(...args);
  expect({ stdout, stderr }).toEqual({ stdout: '', stderr: `evictd: EVICTD_USAGE: ${message}\n  hint: ${hint}\n` });
  expect(exit).toBeGreaterThan(0);
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
  const { stdout, stderr, exit } = await evictd(...args);
  expect({ stderr, exit }).toEqual({ stderr: '', exit: 0 });
  expect(stdout.startsWith(usage)).toBe(true);
});

test('run --help lists every exit code', async () => {
  const [exits = ''] = /^Exit:.*$/m.exec((await evictd('run', '--help')).stdout) ?? [];
  expect(exits.match(/\b\d+\b/g)).toEqual(['0', '1', '64', '75', '78']);
});
