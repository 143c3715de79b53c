import { CommanderError, type Command } from 'commander';
import { COMMANDS } from '../../src/cli/commands.js';
import type { CommandList } from '../../src/cli/output/command.js';
import type { Io } from '../../src/cli/output/io.js';
import { runProgram } from '../../src/cli/program.js';
import type { Reading } from '../../src/node/reading.js';
import type { DiskHoldings } from '../../src/core/disk/disk-amount.js';
import type { DiskHolders } from '../../src/core/disk/filesystem-holders.js';
import type { Observations } from '../../src/core/signal/observation.js';
import type { Threshold } from '../../src/core/threshold/threshold.js';
import type { Candidates } from '../../src/core/workload/workload.js';
import type { NotifierState, SourceProblem } from '../../src/monitor/ports/ports.js';

/** Output and exit code of a whole command line. */
export interface Answer {
  readonly stdout: string;
  readonly stderr: string;
  readonly exit: number | undefined;
}

/** Runs a command line that starts no service. */
export async function evictd(args: readonly string[], list: CommandList = COMMANDS, columns?: number): Promise<Answer> {
  const answer = { stdout: '', stderr: '', exit: undefined as number | undefined };
  const io = {
    stdout: (text: string) => void (answer.stdout += text),
    stderr: (text: string) => void (answer.stderr += text),
    isTTY: false,
    env: {},
    columns,
  };
  const never = (): never => {
    throw new Error('no service is started here');
  };
  try {
    await runProgram(
      { io, logsToTerminal: false, setExitCode: (code) => (answer.exit = code), onStop: never, onReload: never, onResume: never },
      args,
      list,
    );
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    answer.exit ??= error.exitCode;
  }
  return answer;
}

/** Output and end of a command; `exit` undefined: it set no exit code. */
export interface Ran {
  readonly out: string;
  readonly exit: number | undefined;
  readonly error: unknown;
}

/** Runs a command as the program does, with `args` behind its name. */
export async function ran(
  make: (io: Io, setExitCode: (code: number) => void) => Command,
  args: readonly string[],
  isTTY = false,
): Promise<Ran> {
  let out = '';
  let exit: number | undefined;
  const io: Io = { stdout: (text) => void (out += text), stderr: (text) => void (out += text), isTTY, env: {} };
  const command = make(io, (code) => (exit = code))
    .exitOverride()
    .configureOutput({ writeOut: io.stdout.bind(io), writeErr: io.stderr.bind(io) });
  try {
    await command.parseAsync(args, { from: 'user' });
    return { out, exit, error: undefined };
  } catch (error) {
    if (error instanceof CommanderError) exit ??= error.exitCode;
    return { out, exit, error };
  }
}

/** The ports, over values instead of a machine, and what was done with them. */
export interface FakeReading extends Reading {
  readonly armed: (readonly Threshold[])[];
  readonly closed: () => number;
}

export function fakeReading(
  read: () => Observations,
  options: {
    readonly notifiers?: readonly NotifierState[];
    readonly problems?: readonly SourceProblem[];
    readonly candidates?: Candidates;
    readonly disks?: (path: string) => DiskHoldings;
    readonly holders?: DiskHolders;
    /** Calls back when the filesystems have answered; by default at once. */
    readonly filesystems?: (onAnswer: () => void) => void;
  } = {},
): FakeReading {
  const armed: (readonly Threshold[])[] = [];
  let closed = 0;
  return {
    armed,
    closed: () => closed,
    node: {
      identity: { name: '/demo', cgroup: '/demo', cgroupVersion: 2 },
      read,
      layout: () => 'single',
      requestFilesystems: (onAnswer = () => undefined) =>
        (options.filesystems ?? setImmediate)(() => {
          onAnswer(0);
        }),
      arm: (thresholds) => armed.push(thresholds) > 0,
      notifiers: () => (armed.length > 0 ? (options.notifiers ?? []) : []),
      crossing: () => undefined,
      oomKills: () => 0,
      lookAtNs: () => undefined,
      look: () => false,
      decided: () => undefined,
      close: () => undefined,
    },
    workloads: {
      candidates: () => options.candidates ?? { usages: [], unreadable: [], timeNs: 0n },
      refresh: () => undefined,
      holding: () => undefined,
      problems: () => options.problems ?? [],
      close: () => undefined,
    },
    measureDisks: () => Promise.resolve({ of: options.disks ?? (() => ({})), holders: options.holders ?? {}, problems: [] }),
    close: () => {
      closed++;
    },
  };
}
