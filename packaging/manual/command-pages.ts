import type { Command, Option } from 'commander';
import { helpOf, SHARED_GROUPS } from '../../src/cli/output/help.js';
import { bold, filled, flagText, item, page, roffText, section, subsection, verbatim, type PageHead } from './roff.js';

export interface Page {
  /** 'evictd-run.8' */
  readonly file: string;
  readonly text: string;
}

type Edition = Pick<PageHead, 'date' | 'version'>;

/** Groups that evictd(8) describes for all commands. */
const COMMON: readonly string[] = [SHARED_GROUPS.configuration, SHARED_GROUPS.kubelet];

/** evictd(8), and a page for each command; commands of a command are sections of its page. */
export function commandPages(root: Command, edition: Edition): Page[] {
  const commands = root.commands.filter((command) => command.name() !== 'help');
  return [
    { file: 'evictd.8', text: overview(root, commands, edition) },
    ...commands.map((command) => ({ file: `evictd-${command.name()}.8`, text: commandPage(command, edition) })),
  ];
}

function overview(root: Command, commands: readonly Command[], edition: Edition): string {
  const common = commands.find((command) => command.name() === 'run')?.options ?? [];
  return page({ ...edition, name: 'evictd', volume: 8, description: 'evict workloads before the node runs out of memory or disk' }, [
    section('SYNOPSIS', '.B evictd', '.I command', '[\\fIoptions\\fR]'),
    section('DESCRIPTION', filled(`${root.description()}. What it may evict is named in its configuration, evictd.yaml(5).`)),
    section('COMMANDS', ...commands.map((command) => item(`\\fBevictd\\-${roffText(command.name())}\\fR(8)`, command.description()))),
    section('OPTIONS', filled('Most commands take the following options. They override the configuration file.')),
    ...COMMON.map((group) =>
      subsection(group.replace(/:$/, ''), ...optionItems(common.filter((option) => option.helpGroupHeading === group))),
    ),
    section('FILES', item(bold('/etc/evictd/config.yaml'), 'the configuration'), item(bold('/var/lib/evictd'), 'the journal')),
    seeAlso('evictd.yaml(5)', ...commands.map((command) => `evictd-${command.name()}(8)`)),
  ]);
}

function commandPage(command: Command, edition: Edition): string {
  const name = `evictd-${command.name()}`;
  const below = command.commands.filter((each) => each.name() !== 'help');
  const parts =
    below.length === 0
      ? sectionsOf(command)
      : below.flatMap((each) =>
          [subsection(`evictd ${command.name()} ${each.name()}`, filled(sentence(each.description()))), ...sectionsOf(each)].map(
            asSubsection,
          ),
        );
  return page({ ...edition, name, volume: 8, description: command.description() }, [
    section('SYNOPSIS', ...(below.length === 0 ? [synopsis(command)] : below.flatMap((each) => ['.br', synopsis(each)]).slice(1))),
    ...(below.length === 0 ? parts : [section('COMMANDS', ...parts)]),
    seeAlso('evictd(8)', 'evictd.yaml(5)'),
  ]);
}

/** A section of a page as a paragraph of a subsection. */
const asSubsection = (text: string): string => text.replace(/^\.SH (.*)$/m, '.PP\n\\fI$1\\fR\n.br');

function synopsis(command: Command): string {
  const path: string[] = [];
  for (let each: Command | null = command; each; each = each.parent) path.unshift(each.name());
  const rest = command.registeredArguments.map(
    (argument) =>
      `${argument.required ? '' : '['}\\fI${roffText(argument.name())}\\fR${argument.variadic ? ' ...' : ''}${argument.required ? '' : ']'}`,
  );
  return `${bold(path.join(' '))} [\\fIoptions\\fR] ${rest.join(' ')}`.trimEnd();
}

function sectionsOf(command: Command): string[] {
  const { about = [], examples = [], exit = {} } = helpOf(command) ?? {};
  const own = command.options.filter((option) => !option.hidden && !COMMON.includes(option.helpGroupHeading ?? ''));
  const isCommon = own.length < command.options.filter(({ hidden }) => !hidden).length;
  const accepted = filled('The options of evictd(8) for the configuration are accepted, too.');
  const common = isCommon ? [...(own.length === 0 ? [] : ['.PP']), accepted] : [];
  const named = command.registeredArguments.filter(({ description }) => description !== '');
  return [
    ...(about.length === 0 ? [] : [section('DESCRIPTION', ...about.flatMap((text) => ['.PP', filled(text)]).slice(1))]),
    ...(named.length === 0
      ? []
      : [section('ARGUMENTS', ...named.map((argument) => item(`\\fI${roffText(argument.name())}\\fR`, argument.description)))]),
    ...(own.length + common.length === 0 ? [] : [section('OPTIONS', ...optionItems(own), ...common)]),
    ...(examples.length === 0 ? [] : [section('EXAMPLES', verbatim(examples))]),
    section('EXIT STATUS', ...Object.entries(exit).map(([code, meaning]) => item(bold(code), meaning))),
  ];
}

function optionItems(options: readonly Option[]): string[] {
  return options
    .filter(({ hidden }) => !hidden)
    .map(({ flags, description, argChoices, defaultValue, defaultValueDescription }) => {
      const preset = defaultValueDescription ?? (Array.isArray(defaultValue) ? undefined : (defaultValue as string | undefined));
      const more = [...(argChoices ? [`One of ${argChoices.join(', ')}.`] : []), ...(preset === undefined ? [] : [`Default: ${preset}.`])];
      return item(flagText(flags), [sentence(description), ...more].join(' '));
    });
}

const sentence = (text: string): string => `${text}${text.endsWith('.') ? '' : '.'}`;

function seeAlso(...pages: readonly string[]): string {
  return section('SEE ALSO', pages.map((name) => `${bold(name.slice(0, -3))}${name.slice(-3)}`).join(',\n'));
}
