import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { exitCodeOf, formatError } from '../../../src/cli/output/error-text.js';
import { importCommand } from '../../../src/features/config-import/command.js';
import { load, scratch } from '../../config/scratch.js';
import { commentsOf } from './converted.js';

interface Run {
  readonly stdout: string;
  readonly stderr: string;
  readonly exit: number;
}

/** Runs `evictd config import …` where these files are below /; paths are shown without the directory. */
async function imported(args: readonly string[], files: Readonly<Record<string, string | Uint8Array>> = {}): Promise<Run> {
  const root = scratch();
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), text);
  }
  const out = { stdout: '', stderr: '', exit: 0 };
  const io = {
    stdout: (text: string) => void (out.stdout += text.replaceAll(root, '')),
    stderr: (text: string) => void (out.stderr += text.replaceAll(root, '')),
    isTTY: false,
    env: {},
  };
  try {
    const command = importCommand({ io, root }).exitOverride().configureOutput({ writeErr: io.stderr });
    await command.parseAsync(
      args.map((arg) => (arg.startsWith('/') ? join(root, arg) : arg)),
      { from: 'user' },
    );
  } catch (error) {
    io.stderr(formatError(error));
    out.exit = exitCodeOf(error);
  }
  return out;
}

const NOHANG = 'hard_threshold_min_mem = 5 %\n';

test('the heading has the name of the imported file', async () => {
  const { stdout, exit } = await imported(['--from', 'nohang', '/etc/nohang.conf'], { 'etc/nohang.conf': NOHANG });
  expect(exit).toBe(0);
  expect(commentsOf(stdout)).toMatch(/^From nohang \(\/etc\/nohang\.conf\), by evictd config import\./);
  expect(load({ 'config.yaml': stdout }).config).toBeDefined();
});

test.each<[rule: string, args: readonly string[]]>([
  ['as one text', ["-m 7,7 -s 100,100 --avoid '^(a b)$'"]],
  ['one by one', ['-m', '7,7', '-s', '100,100', '--avoid', '^(a b)$']],
  ['from a file', ['/etc/default/earlyoom']],
])('earlyoom arguments are read %s', async (_rule, args) => {
  const files = { 'etc/default/earlyoom': 'EARLYOOM_ARGS="-m 7,7 -s 100,100 --avoid \'^(a b)$\'"\n' };
  const { stdout } = await imported(['--from', 'earlyoom', ...args], files);
  expect(stdout).toContain('    when: memory.available <= 7%\n');
  expect(stdout).toContain('--avoid ^(a b)$:');
});

test('an import of earlyoom without arguments has its defaults', async () => {
  expect((await imported(['--from', 'earlyoom'])).stdout).toContain('memory.available <= 10% & (swap.available <= 10%');
});

test('an import of systemd-oomd without a file reads the files of systemd-oomd', async () => {
  const files = {
    'usr/lib/systemd/oomd.conf': '[OOM]\nSwapUsedLimit=1%\n',
    'etc/systemd/oomd.conf': '[OOM]\nSwapUsedLimit=2%\n',
    'usr/lib/systemd/oomd.conf.d/20.conf': '[OOM]\nSwapUsedLimit=3%\n',
    'run/systemd/oomd.conf.d/20.conf': '[OOM]\nSwapUsedLimit=4%\n',
    'etc/systemd/oomd.conf.d/10.conf': '[OOM]\nSwapUsedLimit=5%\n',
    'etc/systemd/oomd.conf.d/30.txt': '[OOM]\nSwapUsedLimit=6%\n',
    'usr/lib/systemd/oomd/rules.d/a.oomrule': '[Rule]\nAction=kill-all\n',
  };
  const { stdout } = await imported(['--from', 'systemd-oomd'], files);
  expect([...stdout.matchAll(/SwapUsedLimit=(\d)%/g)].map(([, limit]) => limit)).toEqual(['2', '5', '4']);
  expect(stdout).toContain('Action=kill-all');
});

test.each<[rule: string, args: readonly string[], exit: number, stderr: string]>([
  ['the program is missing', [], 1, "required option '--from <program>' not specified"],
  ['the program is unknown', ['--from', 'lmkd'], 1, 'Allowed choices are oomd, systemd-oomd, earlyoom, nohang'],
  ['the file is missing', ['--from', 'oomd'], 64, 'oomd has one configuration file: 0 are named'],
  ['there are two files', ['--from', 'nohang', '/a', '/b'], 64, 'nohang has one configuration file: 2 are named'],
  ['an unknown option', ['--from', 'nohang', '--strict', '/a'], 64, "unknown option '--strict'"],
  ['a machine without systemd-oomd', ['--from', 'systemd-oomd'], 64, 'this machine has no oomd.conf: name a file'],
  ['a missing file', ['--from', 'nohang', '/none'], 66, 'EVICTD_IMPORT_FILE: /none cannot be read: ENOENT'],
  ['a directory', ['--from', 'nohang', '/etc'], 66, 'EVICTD_IMPORT_FILE: /etc cannot be read: EISDIR'],
  ['the file is not UTF-8', ['--from', 'nohang', '/etc/latin1'], 65, 'EVICTD_IMPORT_FILE: /etc/latin1 is not UTF-8'],
  ['the file is too large', ['--from', 'nohang', '/etc/large'], 65, 'EVICTD_IMPORT_FILE: /etc/large is larger than 256 KiB'],
  [
    'wrong contents',
    ['--from', 'oomd', '/etc/wrong'],
    78,
    '/etc/wrong:2:1: EVICTD_IMPORT_SYNTAX not a value of JSON: "x" (hint: oomd reads JSON',
  ],
  ['wrong arguments', ['--from', 'earlyoom', '-m 5 -y'], 78, 'arguments:1:6: EVICTD_IMPORT_OPTION not an option of earlyoom: -y'],
])('%s', async (_rule, args, exit, stderr) => {
  const files = { 'etc/latin1': Buffer.from([0x61, 0xe9]), 'etc/large': 'x = 1\n'.repeat(60_000), 'etc/wrong': '{"rulesets": [\nx]}' };
  const run = await imported(args, files);
  expect(run.stdout).toBe('');
  expect(run.stderr).toContain(stderr);
  expect(run.exit).toBe(exit);
});
