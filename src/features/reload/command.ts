import { setTimeout } from 'node:timers/promises';
import { Command, InvalidArgumentError } from 'commander';
import type { RequestedReload } from './open.js';
import type { Config } from '../../config/config.js';
import type { ReloadAnswer } from '../../state/reload-answer.js';
import { EvictdError, UnavailableError } from '../../errors.js';
import { formatError } from '../../cli/output/error-text.js';
import type { MakeCommand } from '../../cli/output/command.js';
import { USAGE_AND_CONFIG, withHelp } from '../../cli/output/help.js';
import type { Io } from '../../cli/output/io.js';
import { addConfigOptions, configDespiteErrors, type ConfigOptions } from '../../cli/output/options.js';

export interface ReloadDeps {
  readonly io: Io;
  /** @param guessed  the configuration has errors, so node and directory are the defaults and may be wrong */
  readonly ask: (config: Config, pid: number | undefined, guessed: boolean) => Promise<RequestedReload>;
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 20_000;
const LOOK_MS = 10;

/** Sends SIGHUP (or the request file of Windows) and reports the answer. */
export function reloadCommand({ io, ask, timeoutMs = TIMEOUT_MS }: ReloadDeps): Command {
  const command = new Command('reload')
    .description('make the running evictd reload its configuration')
    .option('--pid <pid>', 'process ID of the running evictd, e.g. $MAINPID in a systemd unit', parsePid);
  return withHelp(addConfigOptions(command), {
    about: [
      'Checks the configuration first, as evictd config check does. If it has errors, the running evictd keeps its present configuration and records the refusal.',
    ],
    examples: ['evictd reload', 'evictd reload --config other.yaml   if evictd was started with that file'],
    exit: {
      0: 'the new configuration is in force',
      1: 'evictd refused the configuration, though it has no errors here',
      ...USAGE_AND_CONFIG,
      75: 'no evictd guards the node, or it does not answer',
    },
  }).action(async ({ pid, ...options }: ConfigOptions & { readonly pid?: number }) => {
    const { config, errors } = configDespiteErrors(options);
    try {
      const request = await ask(config, pid, errors !== undefined);
      const evictd = `evictd (process ${String(request.pid)})`;
      const { refused, warnings } = await answerTo(request, evictd, timeoutMs);
      if (errors)
        io.stderr(`${evictd} ${refused ? 'keeps its present configuration' : 'was started with other files and reloaded those'}\n`);
      else if (refused) throw refusal(evictd, refused);
      else io.stdout(`${evictd} reloaded its configuration\n`);
      for (const warning of warnings) io.stderr(`warning: ${warning}\n`);
    } catch (error) {
      if (!errors) throw error;
      io.stderr(formatError(error));
    }
    if (errors) throw errors;
  });
}

async function answerTo(request: RequestedReload, evictd: string, timeoutMs: number): Promise<ReloadAnswer> {
  const untilMs = performance.now() + timeoutMs;
  let answer = request.answer();
  while (answer === undefined && performance.now() < untilMs) {
    await setTimeout(LOOK_MS);
    answer = request.answer();
  }
  if (answer) return answer;
  throw new UnavailableError('EVICTD_RELOAD_UNANSWERED', `${evictd} did not answer within ${String(timeoutMs / 1_000)} s`, {
    hint: 'it hangs or is an older version; see journalctl -u evictd',
  });
}

/** The file changed between the two checks, or evictd was started with other files. */
function refusal(evictd: string, lines: readonly string[]): EvictdError {
  return new EvictdError('EVICTD_RELOAD_REFUSED', `${evictd} refused the configuration and keeps its present one: ${lines.join('; ')}`, {
    hint: 'run evictd config check with the options that evictd was started with',
  });
}

function parsePid(text: string): number {
  if (!/^[1-9]\d{0,9}$/.test(text)) throw new InvalidArgumentError('not a process ID.');
  return Number(text);
}

/** `evictd reload`. */
export const reload: MakeCommand = ({ io }) =>
  reloadCommand({ io, ask: async (...args) => (await import('./open.js')).askToReload(...args) });
