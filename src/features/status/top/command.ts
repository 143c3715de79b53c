import { Command, InvalidArgumentError, Option } from 'commander';
import { parseDuration } from '../../../core/quantity/duration.js';
import type { ResourceSignal } from '../../../core/signal/signal.js';
import type { MakeCommand } from '../../../cli/output/command.js';
import { signalOption, USAGE_AND_CONFIG, withHelp } from '../../../cli/output/help.js';
import { addConfigOptions, configForLooking, type ConfigOptions } from '../../../cli/output/options.js';
import { attempt, EvictdError, UsageError } from '../../../errors.js';
import { drawingFor, openStatus } from '../command.js';

interface TopOptions extends ConfigOptions {
  readonly signal?: ResourceSignal;
  readonly interval: number;
}

const SHORTEST_MS = 100;
/** The time without an answer after which the screen says that evictd does not answer. */
const TIMEOUT_MS = 3_000;

export const top: MakeCommand = ({ io, onStop, onReload }) => {
  const command = new Command('top')
    .description('show the state of evictd and of its node live')
    .addOption(signalOption())
    .addOption(new Option('-i, --interval <duration>', 'time between two readings').argParser(milliseconds).default(1_000, '1s'));
  return withHelp(addConfigOptions(command), {
    about: ['Asks the running evictd. Without one it reads the node itself. ? lists the keys, q ends it.'],
    examples: ['evictd top', 'evictd top --signal nodefs.available'],
    exit: {
      0: 'ended',
      1: 'only root and the members of controlSocket.group may ask evictd',
      ...USAGE_AND_CONFIG,
      75: 'evictd does not answer, or the node cgroup is missing',
    },
  }).action(async ({ signal, interval, ...options }: TopOptions) => {
    const { stdin, stdout } = process;
    if (!stdin.isTTY || !io.isTTY || io.env.TERM === 'dumb')
      throw new UsageError('EVICTD_TOP_TERMINAL', 'evictd top needs a terminal', { hint: 'evictd status shows the same once' });
    let warning: string | undefined;
    const stderr = (text: string): void => {
      io.stderr(text);
      warning = text.trimEnd();
    };
    const { loaded } = configForLooking(options, { stderr });
    const read = openStatus(loaded, TIMEOUT_MS);
    const first = await read({ signal });
    const { live } = await import('./live.js');
    await live({
      ...{ io, input: stdin, output: stdout, drawing: drawingFor(io), intervalMs: interval, first, read, signal, warning },
      errorText: (error) => (error instanceof EvictdError ? `${error.code}: ${error.message}` : String(error)),
      onStop: (stop) => {
        onStop(stop);
        onReload(stop); // SIGHUP
      },
    });
  });
};

function milliseconds(text: string): number {
  // Text that is not a duration is refused like a duration that is too short.
  const ms = Number(attempt(() => parseDuration(text)) ?? 0n) / 1e6;
  if (ms < SHORTEST_MS) throw new InvalidArgumentError('Use a duration from 100ms on: 1s, 500ms.');
  return ms;
}
