import { Command } from 'commander';
import { EvictdError } from '../../errors.js';
import { exitCodeOf, formatError } from '../../cli/output/error-text.js';
import type { MakeCommand } from '../../cli/output/command.js';
import { outputOption, USAGE_AND_CONFIG, withHelp } from '../../cli/output/help.js';
import { addConfigOptions, configDespiteErrors, type ConfigOptions } from '../../cli/output/options.js';
import { jsonDocument } from '../../core/name/json-text.js';
import type { OutputFormat } from '../../cli/output/request-answer.js';
import { answered, processId, type RequestDeps } from './answered.js';

/** Sends SIGHUP (or the request file of Windows) and reports the answer. */
export function reloadCommand({
  io,
  ask,
  timeoutMs,
  setExitCode,
}: RequestDeps & { readonly setExitCode: (code: number) => void }): Command {
  const command = new Command('reload')
    .description('make the running evictd reload its configuration')
    .option('--pid <pid>', 'process ID of the running evictd, e.g. $MAINPID in a systemd unit', processId)
    .addOption(outputOption());
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
  }).action(async ({ pid, output, ...options }: ConfigOptions & { readonly pid?: number; readonly output: OutputFormat }) => {
    const { loaded, errors } = configDespiteErrors(options);
    // A unit's ExecReload writes to the journal, where the running evictd has written the errors that it refused.
    const inJournal = io.env.JOURNAL_STREAM !== undefined && !io.isTTY;
    // First: what follows says what that means for the running evictd.
    if (errors && !inJournal) io.stderr(formatError(errors));
    try {
      const request = await ask(loaded.config, pid, errors !== undefined);
      const evictd = `evictd (process ${String(request.pid)})`;
      const { refused, warnings } = await answered(request, 'reload', timeoutMs);
      if (output === 'json')
        io.stdout(jsonDocument({ pid: request.pid, reloaded: refused === undefined, refused: refused ?? [], warnings }));
      if (errors && inJournal && !refused) io.stderr(formatError(errors));
      if (errors)
        io.stderr(`${evictd} ${refused ? 'keeps its present configuration' : 'was started with other files and reloaded those'}\n`);
      else if (refused) throw refusal(evictd, refused);
      else if (output === 'text') io.stdout(`${evictd} reloaded its configuration\n`);
      for (const warning of warnings) io.stderr(`warning: ${warning}\n`);
    } catch (error) {
      if (!errors) throw error;
      if (inJournal) io.stderr(formatError(errors));
      io.stderr(formatError(error));
    }
    if (errors) setExitCode(exitCodeOf(errors));
  });
}

/** The file changed between the two checks, or evictd was started with other files. */
function refusal(evictd: string, lines: readonly string[]): EvictdError {
  return new EvictdError('EVICTD_RELOAD_REFUSED', `${evictd} refused the configuration and keeps its present one: ${lines.join('; ')}`, {
    hint: 'run evictd config check with the options that evictd was started with',
  });
}

export const reload: MakeCommand = ({ io, setExitCode }) =>
  reloadCommand({ io, setExitCode, ask: async (...args) => (await import('./open.js')).ask('reload', ...args) });
