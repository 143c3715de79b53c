import { setTimeout } from 'node:timers/promises';
import { Command, InvalidArgumentError } from 'commander';
import type { AskedReload } from '../compose/reload.js';
import type { Config } from '../config/config.js';
import type { ReloadAnswer } from '../monitor/reload-answer.js';
import { EvictdError, UnavailableError } from '../errors.js';
import { formatError } from './errors.js';
import type { Io } from './io.js';
import { addConfigOptions, configDespiteErrors, type ConfigOptions } from './options.js';

export interface ReloadDeps {
  readonly io: Io;
  /** @param guessed  the configuration has errors: node and directory are the default ones, and may be wrong */
  readonly ask: (config: Config, pid: number | undefined, guessed: boolean) => Promise<AskedReload>;
  /** How long an answer is waited for. */
  readonly patienceMs?: number;
}

const PATIENCE_MS = 20_000;
const LOOK_MS = 10;

/** `evictd reload`: SIGHUP, and what came of it. */
export function reloadCommand({ io, ask, patienceMs = PATIENCE_MS }: ReloadDeps): Command {
  const command = new Command('reload')
    .description('let the running evictd read its configuration again, and wait until it has')
    .option('--pid <pid>', 'only that process (a service manager knows which)', parsePid);
  return addConfigOptions(command)
    .addHelpText(
      'after',
      `
Examples:
  evictd reload
  systemctl reload evictd      the same for the service: its unit runs it
  evictd reload --config ./config.yaml     of the evictd that was started with it

First it does what evictd config check does. With errors the running evictd is told all the same: it keeps the configuration before, and records the refusal.
Exit: 0 it is in force, 1 evictd alone has refused it, 64 usage, 75 no evictd guards the node, or it does not answer, 78 configuration.`,
    )
    .action(async ({ pid, ...options }: ConfigOptions & { readonly pid?: number }) => {
      const { config, errors } = configDespiteErrors(options);
      try {
        const asked = await ask(config, pid, errors !== undefined);
        const who = `evictd (process ${String(asked.pid)})`;
        const { refused, warnings } = await answerTo(asked, who, patienceMs);
        if (errors)
          io.stderr(`${who} ${refused ? 'keeps the configuration before' : 'was started with other files, and has read those again'}\n`);
        else if (refused) throw refusal(who, refused);
        else io.stdout(`${who} has read its configuration again\n`);
        for (const warning of warnings) io.stderr(`warning: ${warning}\n`);
      } catch (error) {
        if (!errors) throw error;
        io.stderr(formatError(error));
      }
      if (errors) throw errors;
    });
}

async function answerTo(asked: AskedReload, who: string, patienceMs: number): Promise<ReloadAnswer> {
  const untilMs = performance.now() + patienceMs;
  let answer = asked.answer();
  while (answer === undefined && performance.now() < untilMs) {
    await setTimeout(LOOK_MS);
    answer = asked.answer();
  }
  if (answer) return answer;
  throw new UnavailableError('EVICTD_RELOAD_UNANSWERED', `${who} has not answered within ${String(patienceMs / 1_000)} s`, {
    hint: 'it hangs, or is of an older version: journalctl -u evictd',
  });
}

/** It was changed between the two readings, or evictd was started with other files. */
function refusal(who: string, lines: readonly string[]): EvictdError {
  return new EvictdError(
    'EVICTD_RELOAD_REFUSED',
    `${who} has refused the configuration, the one before stays in force: ${lines.join('; ')}`,
    {
      hint: 'evictd config check, with the options that it was started with',
    },
  );
}

function parsePid(text: string): number {
  if (!/^[1-9]\d{0,9}$/.test(text)) throw new InvalidArgumentError('not the number of a process.');
  return Number(text);
}
