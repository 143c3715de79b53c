import { Option, type Command, type HelpConfiguration } from 'commander';

/** Lines of `--help` are at most this wide. */
export const HELP_WIDTH = 80;

export interface Help {
  /** What the options do not say, a paragraph each. */
  readonly about?: readonly string[];
  readonly examples?: readonly string[];
  /** What each exit code means, by its number. */
  readonly exit: Readonly<Record<number, string>>;
}

/** Exit codes that most commands share (sysexits.h). */
export const USAGE_AND_CONFIG = { 64: 'usage error', 78: 'configuration error' } as const;

/** Adds the paragraphs, examples and exit codes below the options of a command. */
export function withHelp(command: Command, { about = [], examples = [], exit }: Help): Command {
  const codes = Object.entries(exit).flatMap(([code, meaning]) =>
    wrapped(meaning, HELP_WIDTH - 6).map((line, index) => `  ${index === 0 ? code.padEnd(4) : '    '}${line}`),
  );
  const sections = [
    ...about.map((paragraph) => wrapped(paragraph, HELP_WIDTH).join('\n')),
    ...(examples.length === 0 ? [] : [['Examples:', ...examples.map((example) => `  ${example}`)].join('\n')]),
    ['Exit codes:', ...codes].join('\n'),
  ];
  return command.addHelpText('after', `\n${sections.join('\n\n')}`);
}

/** `-o, --output text|json`. */
export const outputOption = (): Option => new Option('-o, --output <format>', 'output format').choices(['text', 'json']).default('text');

/** Descriptions start here; those of longer options on the next line. */
const DESCRIPTION_COLUMN = 30;

/** How commander lists options and commands. */
export const HELP_LAYOUT: HelpConfiguration = {
  formatItem: (term, _width, description) => {
    const lines = wrapped(description, HELP_WIDTH - DESCRIPTION_COLUMN).join(`\n${' '.repeat(DESCRIPTION_COLUMN)}`);
    if (term.length + 4 > DESCRIPTION_COLUMN) return `  ${term}\n${' '.repeat(DESCRIPTION_COLUMN)}${lines}`;
    return `  ${term}`.padEnd(DESCRIPTION_COLUMN) + lines;
  },
};

function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}
