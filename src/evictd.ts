import { CommanderError } from 'commander';
import { exitCodeOf, formatError } from './cli/errors.js';
import type { Io } from './cli/io.js';
import { program } from './cli/program.js';

const EXIT_USAGE = 64;
const EXIT_CHECK_UNKNOWN = 3;

const io: Io = {
  stdout: (text) => process.stdout.write(text),
  stderr: (text) => process.stderr.write(text),
  isTTY: process.stdout.isTTY,
  env: process.env,
};

// `evictd check | head -1`: a reader that has seen enough is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});

const asked = process.argv[2];
try {
  await program({
    io,
    logsToTerminal: process.stderr.isTTY,
    setExitCode: (code) => {
      process.exitCode = code;
    },
    onStop: (stop) => {
      process.once('SIGTERM', stop).once('SIGINT', stop);
    },
    onReload: (reload) => {
      process.on('SIGHUP', reload);
    },
  }).parseAsync();
} catch (error) {
  if (error instanceof CommanderError) {
    process.exitCode = error.exitCode === 0 ? 0 : asked === 'check' ? EXIT_CHECK_UNKNOWN : EXIT_USAGE;
  } else {
    io.stderr(formatError(error));
    process.exitCode = exitCodeOf(error);
  }
}
