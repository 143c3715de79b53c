import { CommanderError } from 'commander';
import { exitCodeOf, formatError } from './cli/errors.js';
import type { Io } from './cli/io.js';
import { program } from './cli/program.js';
import { processSignals } from './compose/configured-platform.js';
import { EvictdError, errnoText } from './errors.js';

const EXIT_FAILURE = 1;
const EXIT_USAGE = 64;
const EXIT_CHECK_UNKNOWN = 3;

const asked = process.argv[2];
let outputLost = false;
/** Of standard output, or its disk is full: nothing more can be said there. */
let readerGone = false;

/** What nobody could read makes every other end a failure. Only the answer of `admit` is its exit code. */
function setExitCode(code: number): void {
  const failed = asked === 'check' ? EXIT_CHECK_UNKNOWN : EXIT_FAILURE;
  process.exitCode = outputLost && asked !== 'admit' ? failed : code;
}

/**
 * `evictd check | head -1`: a reader that has seen enough is no failure. A full disk is one, said once; the command goes on to its end, so that what
 * it made is removed.
 */
function outputFailed(error: NodeJS.ErrnoException): void {
  readerGone = true;
  if (error.code === 'EPIPE' || outputLost) return;
  const reason = error.errno === undefined ? error.message : errnoText(-error.errno);
  outputLost = true;
  io.stderr(formatError(new EvictdError('EVICTD_OUTPUT_WRITE', `cannot write to standard output: ${reason}`)));
  if (asked !== 'admit') setExitCode(EXIT_FAILURE);
}

const io: Io = {
  stdout: (text) => process.stdout.write(text),
  stderr: (text) => process.stderr.write(text),
  stdoutTaken: async () => {
    if (process.stdout.writableNeedDrain && !readerGone) {
      await new Promise<void>((resolve) => {
        const done = (): void => {
          process.stdout.off('drain', done).off('error', done);
          resolve();
        };
        process.stdout.on('drain', done).on('error', done);
      });
    }
    return !readerGone;
  },
  isTTY: process.stdout.isTTY,
  env: process.env,
};

process.stdout.on('error', outputFailed);
process.stderr.on('error', () => undefined); // nobody is left who could be told

async function run(): Promise<void> {
  const signals = processSignals();
  try {
    await program({
      io,
      logsToTerminal: process.stderr.isTTY,
      setExitCode,
      onStop: (stop) => {
        for (const name of signals.stop) process.once(name, stop);
      },
      onReload: (reload) => {
        for (const name of signals.reload) process.on(name, reload);
      },
    }).parseAsync();
  } catch (error) {
    if (error instanceof CommanderError) {
      // `admit` has said what it ends with.
      if (asked !== 'admit') setExitCode(error.exitCode === 0 ? 0 : asked === 'check' ? EXIT_CHECK_UNKNOWN : EXIT_USAGE);
    } else {
      io.stderr(formatError(error));
      setExitCode(exitCodeOf(error));
    }
  }
}

void run();
