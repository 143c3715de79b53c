/** Source lines have at most 80 bytes, and escapes make them longer. */
const FILLED = 64;

/** Text of a manual page (man(7), groff_char(7)): escaped, and no request at the start of a line. */
export function roffText(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^([.'])/gm, '\\&$1')
    .replaceAll("'", '\\(aq')
    .replaceAll('…', '...');
}

/** A paragraph. */
export function filled(text: string): string {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + word.length < FILLED) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines.map(roffText).join('\n');
}

export const bold = (text: string): string => `\\fB${roffText(text)}\\fR`;

/** A flag with its value in italics: '--signal <signal>'. */
export function flagText(flags: string): string {
  return flags
    .split(/(<[^>]*>|\[[^\]]*\])/)
    .map((part) => (/^[<[]/.test(part) ? `\\fI${roffText(part.slice(1, -1))}\\fR` : part.replace(/[-\w]+/g, bold)))
    .join('');
}

export const section = (title: string, ...lines: readonly string[]): string => [`.SH ${title}`, ...lines].join('\n');
export const subsection = (title: string, ...lines: readonly string[]): string => [`.SS "${roffText(title)}"`, ...lines].join('\n');

/** A term, and below it what it means. */
export const item = (term: string, text: string): string => `.TP\n${term}\n${filled(text)}`;

/** Lines that are not filled. */
export const verbatim = (lines: readonly string[]): string => ['.nf', ...lines.map(roffText), '.fi'].join('\n');

export interface PageHead {
  readonly name: string;
  readonly volume: 5 | 8;
  readonly description: string;
  /** YYYY-MM-DD */
  readonly date: string;
  readonly version: string;
}

export function page({ name, volume, description, date, version }: PageHead, sections: readonly string[]): string {
  const title = volume === 5 ? 'File formats' : 'System administration';
  return `${[
    `.TH ${name.toUpperCase()} ${String(volume)} ${date} "evictd ${version}" "${title}"`,
    '.nh\n.ad l',
    section('NAME', filled(`${name} - ${description}`)),
    ...sections,
  ].join('\n')}\n`;
}
