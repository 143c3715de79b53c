import type { Command, Option } from 'commander';
import { HELP_ALL } from '../../cli/output/help.js';

/** What an option takes; undefined: nothing. */
export type OptionValue = { readonly kind: 'words'; readonly words: readonly string[] } | { readonly kind: 'file' | 'directory' | 'text' };

export interface ShownOption {
  /** '-s', if there is one. */
  readonly short: string | undefined;
  /** '--signal' */
  readonly long: string;
  readonly description: string;
  readonly value: OptionValue | undefined;
}

/** A command as a shell completes it. */
export interface ShownCommand {
  /** '' for evictd itself, 'run', 'config check'. */
  readonly path: string;
  readonly options: readonly ShownOption[];
  readonly commands: readonly { readonly name: string; readonly description: string }[];
  /** What its arguments may be. */
  readonly argument: OptionValue | undefined;
}

/** evictd and every command below it, in the order of `--help`. */
export function shownCommands(command: Command, path = ''): ShownCommand[] {
  const help = command.createHelp();
  const commands = command.commands.filter((below) => below.name() !== 'help');
  const [argument] = command.registeredArguments;
  return [
    {
      path,
      options: help.visibleOptions(command).flatMap((option) => (option.long === '--help' ? [shown(option), HELP] : [shown(option)])),
      commands: commands.map((below) => ({ name: below.name(), description: below.description() })),
      argument: argument && (argument.argChoices ? { kind: 'words', words: argument.argChoices } : { kind: 'file' }),
    },
    ...commands.flatMap((below) => shownCommands(below, path === '' ? below.name() : `${path} ${below.name()}`)),
  ];
}

const HELP: ShownOption = { short: undefined, long: HELP_ALL, description: 'show this help with every option', value: undefined };

function shown({ short, long = '', flags, description, argChoices }: Option): ShownOption {
  return { short, long, description: long === '--help' ? 'show this help' : description, value: valueOf(flags, argChoices) };
}

function valueOf(flags: string, choices: readonly string[] | undefined): OptionValue | undefined {
  const [, name] = /[<[]([^>\]]+)[>\]]/.exec(flags) ?? [];
  if (name === undefined) return undefined;
  if (choices !== undefined) return { kind: 'words', words: choices };
  if (name === 'file') return { kind: 'file' };
  return { kind: name === 'directory' || /-directory\b/.test(flags) ? 'directory' : 'text' };
}
