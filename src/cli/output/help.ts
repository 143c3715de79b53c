import { Help as Layout, Option, type Command, type HelpConfiguration } from 'commander';
import { RESOURCE_SIGNALS } from '../../core/signal/signal.js';
import { wrapped } from './wrapped.js';

/** Lines of `--help` are at most this wide where there is no terminal. */
export const HELP_WIDTH = 80;

/** The flag of {@link helpLayout}'s whole form. */
export const HELP_ALL = '--help-all';

export interface Help {
  /** What the options do not say, a paragraph each. */
  readonly about?: readonly string[];
  readonly examples?: readonly string[];
  /** What each exit code means, by its number. */
  readonly exit: Readonly<Record<number, string>>;
}

/** Exit codes that most commands share (sysexits.h). */
export const USAGE_AND_CONFIG = { 64: 'usage error', 78: 'configuration error' } as const;

const HELP = new WeakMap<Command, Help>();

/** Adds the paragraphs, examples and exit codes below the options of a command. */
export function withHelp(command: Command, help: Help): Command {
  HELP.set(command, help);
  return command;
}

/** What was added to a command; undefined: nothing, as for a command that only has commands. */
export function helpOf(command: Command): Help | undefined {
  return HELP.get(command);
}

/** `-o, --output text|json`. */
export const outputOption = (): Option => new Option('-o, --output <format>', 'output format').choices(['text', 'json']).default('text');

/** `-s, --signal`: unless it is given, evictd chooses. */
export const signalOption = (): Option =>
  new Option('-s, --signal <signal>', 'signal to rank workloads for')
    .choices(RESOURCE_SIGNALS)
    .default(undefined, 'that of a met threshold, else memory.available');

/** Groups of options and of commands that `--help` only names, so that a command's own options fit on a screen. */
export const SHARED_GROUPS = {
  configuration: 'Configuration:',
  kubelet: 'Kubelet flags:',
  recording: 'Recording:',
  pods: "Kubelet's pods:",
  form: 'Form:',
  preemption: 'Preemption:',
  assumptions: 'Assumptions:',
  log: 'Log:',
  election: 'Election:',
  nodes: 'Nodes:',
} as const;
export const RARE_COMMANDS = 'More commands:';
const NAMED_GROUPS: ReadonlySet<string | undefined> = new Set([...Object.values(SHARED_GROUPS), RARE_COMMANDS]);

/** A screen of 24 lines without the prompt. */
const SCREEN_LINES = 23;
/** A longer list of choices is cut where `--help` is short. */
const CHOICES_WIDTH = 36;
/** Descriptions start here at the latest; those of longer options on the next line. */
const DESCRIPTION_COLUMN = 30;
const NARROWEST = 40;

/** How commander writes help. @param isWhole  lists every group (`--help-all`) instead of naming it */
export function helpLayout(isWhole: boolean): HelpConfiguration {
  const isListed = (group: string | undefined): boolean => isWhole || !NAMED_GROUPS.has(group);
  return {
    subcommandTerm: (command) => [command.name(), ...command.registeredArguments.map(argumentText)].join(' '),
    formatItem: (term, longest, description, helper) =>
      itemText(term, Math.min(longest + 4, DESCRIPTION_COLUMN), description, widthOf(helper)),
    formatHelp: (command, helper) => {
      const listed = Object.assign(Object.create(helper) as Layout, {
        visibleOptions: (of: Command) => helper.visibleOptions(of).filter(({ helpGroupHeading }) => isListed(helpGroupHeading)),
        visibleCommands: (of: Command) => helper.visibleCommands(of).filter((below) => isListed(below.helpGroup())),
      });
      const options = Layout.prototype.formatHelp.call(listed, command, listed).trimEnd();
      const named = isWhole ? [] : namedGroups(command, helper);
      const texts = sectionsOf(command, widthOf(helper)).map((sections) => `${[options, ...named, ...sections].join('\n\n')}\n`);
      const fitting = texts.find((text) => text.split('\n').length <= SCREEN_LINES + 1);
      return (isWhole ? texts[0] : (fitting ?? texts.at(-1))) ?? options;
    },
    optionDescription: ({ description, argChoices = [], defaultValue, defaultValueDescription }) => {
      const choices = argChoices.length === 0 ? [] : [isWhole ? argChoices.join(', ') : firstLine(argChoices.join(', '), CHOICES_WIDTH)];
      const isShown = defaultValueDescription !== undefined || (!Array.isArray(defaultValue) && defaultValue !== undefined);
      const more = [...choices, ...(isShown ? [`default: ${defaultValueDescription ?? String(defaultValue)}`] : [])];
      return more.length === 0 ? description : `${description} (${more.join('; ')})`;
    },
  };
}

function widthOf({ helpWidth = HELP_WIDTH }: Layout): number {
  return Math.max(helpWidth, NARROWEST);
}

function argumentText(argument: { name(): string; readonly required: boolean; readonly variadic: boolean }): string {
  const name = `${argument.name()}${argument.variadic ? '...' : ''}`;
  return argument.required ? `<${name}>` : `[${name}]`;
}

function itemText(term: string, column: number, description: string, width: number): string {
  const lines = wrapped(description, width - column).join(`\n${' '.repeat(column)}`);
  return term.length + 4 > column ? `  ${term}\n${' '.repeat(column)}${lines}` : `  ${term}`.padEnd(column) + lines;
}

/** A line for each group that is not listed: its title, and the first of its options or all of its commands. */
function namedGroups(command: Command, helper: Layout): string[] {
  const width = widthOf(helper);
  const rare = helper.visibleCommands(command).filter((below) => NAMED_GROUPS.has(below.helpGroup()));
  const options = helper.visibleOptions(command).filter(({ helpGroupHeading }) => NAMED_GROUPS.has(helpGroupHeading));
  const groups = [...new Set(options.map(({ helpGroupHeading = '' }) => helpGroupHeading))];
  const lines = groups.map((group) => {
    const names = options.filter(({ helpGroupHeading }) => helpGroupHeading === group).map(({ long }) => long ?? '');
    return firstLine(`  ${group.padEnd(16)}${names.join(', ')}`, width);
  });
  return [
    ...(rare.length === 0 ? [] : [hanging(`${RARE_COMMANDS} ${rare.map((below) => below.name()).join(', ')}`, width)]),
    ...(lines.length === 0 ? [] : [[`More options, which ${HELP_ALL} explains:`, ...lines].join('\n')]),
  ];
}

/** What stands below the options, the longest first: all of it, and what is left where less fits on a screen. */
function sectionsOf(command: Command, width: number): readonly (readonly string[])[] {
  const help = helpOf(command);
  if (help === undefined) return [[]];
  const codes = Object.entries(help.exit).map(([code, meaning]) => `${code} ${meaning}`);
  const exit = hanging(`Exit codes: ${codes.join('; ')}`, width);
  const about = (help.about ?? []).map((paragraph) => wrapped(paragraph, width).join('\n'));
  const examples = (help.examples ?? []).map((example) => `  ${example}`);
  if (examples.length === 0) return [[...about, exit], about];
  const shown = ['Examples:', ...examples].join('\n');
  return [[...about, shown, exit], [...about, shown], [shown, exit], [shown], [['Example:', ...examples.slice(0, 1)].join('\n')]];
}

/** The words that fit into a line, and … for the others. */
function firstLine(text: string, width: number): string {
  if (text.length <= width) return text;
  return `${text.slice(0, text.lastIndexOf(' ', width - 1))} …`;
}

/** Lines after the first are indented. */
function hanging(text: string, width: number): string {
  return wrapped(text, width - 2).join('\n  ');
}
