import { CommanderError } from 'commander';
import type { CommandList } from './cli/output/command.js';
import { exitCodeOf, formatError } from './cli/output/error-text.js';
import type { Io } from './cli/output/io.js';
import { terminalText } from './cli/output/style.js';
import { runProgram } from './cli/program.js';
import { givenArguments, nameProcess, processSignals } from './node/configured-platform.js';
import { EvictdError, errnoText } from './errors.js';

const EXIT_FAILURE = 1;
const EXIT_USAGE = 64;
const EXIT_CHECK_UNKNOWN = 3;

const args = givenArguments(process.argv.slice(2));
const [command] = args;
/** A write to standard output failed, other than with EPIPE. */
let outputLost = false;
/** Standard output takes nothing more: its reader has closed it, or its disk is full. */
let readerClosed = false;

/** Lost output makes a success a failure, except for `admit`, whose exit code is its answer. */
function setExitCode(code: number): void {
  const failed = command === 'check' ? EXIT_CHECK_UNKNOWN : EXIT_FAILURE;
  process.exitCode = outputLost && command !== 'admit' ? failed : code;
}

/**
 * EPIPE (`evictd check | head -1`) is not a failure. A full disk is one, reported once; the command still runs to its end,
 * to remove what it created.
 */
function outputFailed(error: NodeJS.ErrnoException): void {
  readerClosed = true;
  if (error.code === 'EPIPE' || outputLost) return;
  const reason = error.errno === undefined ? error.message : errnoText(-error.errno);
  outputLost = true;
  io.stderr(formatError(new EvictdError('EVICTD_OUTPUT_WRITE', `cannot write to standard output: ${reason}`)));
  if (command !== 'admit') setExitCode(EXIT_FAILURE);
}

const io: Io = {
  stdout: (text) => process.stdout.write(terminalText(text, io)),
  stderr: (text) => process.stderr.write(terminalText(text)),
  cursor: (codes) => process.stdout.write(codes),
  stdoutTaken: async () => {
    if (process.stdout.writableNeedDrain && !readerClosed) {
      await new Promise<void>((resolve) => {
        const done = (): void => {
          process.stdout.off('drain', done).off('error', done);
          resolve();
        };
        process.stdout.on('drain', done).on('error', done);
      });
    }
    return !readerClosed;
  },
  isTTY: process.stdout.isTTY,
  columns: process.stdout.columns,
  rows: process.stdout.rows,
  env: process.env,
};

process.stdout.on('error', outputFailed);
process.stderr.on('error', () => undefined); // cannot be reported anywhere

/** Runs the command that the arguments of this process name. */
export async function evictd(commands: CommandList): Promise<void> {
  nameProcess(args);
  const signals = processSignals();
  try {
    const edge = {
      io,
      logsToTerminal: process.stderr.isTTY,
      setExitCode,
      onStop: (stop: () => void) => {
        // Every time: without a handler a second signal would end evictd before its last record.
        for (const name of signals.stop) process.on(name, stop);
      },
      onReload: (reload: () => void) => {
        for (const name of signals.reload) process.on(name, reload);
      },
      onResume: (resume: () => void) => {
        for (const name of signals.resume) process.on(name, resume);
      },
    };
    await runProgram(edge, args, commands);
  } catch (error) {
    if (error instanceof CommanderError) {
      // `admit` has set its exit code.
      if (command !== 'admit') setExitCode(error.exitCode === 0 ? 0 : command === 'check' ? EXIT_CHECK_UNKNOWN : EXIT_USAGE);
    } else {
      io.stderr(formatError(error));
      setExitCode(exitCodeOf(error));
    }
  }
}
