import { Document, isPair, isScalar, visit } from 'yaml';
import { printable } from '../../core/name/printable.js';
import { parseDuration } from '../../core/quantity/duration.js';
import { noteText, type MigratedEntry, type MigratedPolicy, type Migration, type Note } from './migration.js';
import { seconds } from './values.js';
import { wrapped } from '../../cli/output/wrapped.js';

/** Lines of comments are at most this wide. */
const WIDTH = 110;

const NAME_LENGTH = 63;

/** The migration as a configuration file. Its comments hold every setting that was read. */
export function migrationText(heading: string, { remarks, settings, workloads, rules, policies, rest }: Migration): string {
  const named = withNames(apart(policies));
  const sections = [
    [heading, ...remarks].flatMap((remark, index) => [...(index === 0 ? [] : ['#']), ...comment(remark)]),
    ...settings.map(({ notes, value }) => [...commentOf(notes), ...yaml(value)]),
    list('workloads', workloads),
    list('rules', rules),
    named.length === 0 ? [] : ['policies:', ...named.flatMap((policy) => policyLines(policy))],
    rest.length === 0 ? [] : [...comment('Other settings:'), ...commentOf(rest)],
  ];
  return `${sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')}\n`;
}

/** The notes of an entry stand above it. */
function list(key: string, entries: readonly MigratedEntry[]): string[] {
  if (entries.length === 0) return [];
  return [`${key}:`, ...entries.flatMap(({ notes, value }) => [...commentOf(notes, '  '), ...item(value)])];
}

interface NamedPolicy extends MigratedPolicy {
  readonly name: string;
}

function policyLines({ name, title, notes, scope, when, for: duration, unless, cooldown, then }: NamedPolicy): string[] {
  const value = {
    name,
    ...(scope !== undefined && { scope: { cgroup: scope } }),
    when,
    ...(duration !== undefined && { for: duration }),
    ...(unless !== undefined && { unless }),
    ...(cooldown !== undefined && { cooldown }),
    then,
  };
  return [...comment(title, '  '), ...commentOf(notes, '  '), ...item(value)];
}

/** The lines of an item of a list, two spaces deep. */
function item(value: unknown): string[] {
  return yaml([value]).map((line) => `  ${line}`);
}

/** Maps and lists below the keys of an entry or of a step are on one line. */
function yaml(value: unknown): string[] {
  const document = new Document(value);
  visit(document, {
    Collection: (_key, node, path) => {
      const parent = path.at(-1);
      if (isPair(parent) && isScalar(parent.key) && parent.key.value !== 'then') node.flow = true;
    },
  });
  return document.toString({ lineWidth: 0, flowCollectionPadding: false, singleQuote: true }).trimEnd().split('\n');
}

function commentOf(notes: readonly Note[], indent = ''): string[] {
  return notes.flatMap((note) => comment(noteText(note), indent, '  '));
}

/**
 * A paragraph as lines of a comment. Nothing in it can end the comment: a line feed of a value is written as `\x0a`.
 *
 * @param hanging  before every line but the first
 */
function comment(paragraph: string, indent = '', hanging = ''): string[] {
  const lines = wrapped(printable(paragraph), WIDTH - `${indent}# ${hanging}`.length);
  return lines.map((line, index) => `${indent}# ${index === 0 ? '' : hanging}${line}`);
}

/** evictd refuses two policies with the same scope, condition and `for`. The later one acts a second later. */
function apart(policies: readonly MigratedPolicy[]): MigratedPolicy[] {
  const taken = new Set<string>();
  return policies.map((policy) => {
    const { scope, when, unless, notes, for: wanted = '0s' } = policy;
    const keyOf = (held: string): string => JSON.stringify([scope, when, unless, held]);
    let held = wanted;
    while (taken.has(keyOf(held))) held = seconds(Number(parseDuration(held)) / 1e9 + 1);
    taken.add(keyOf(held));
    if (held === wanted) return policy;
    const later = notes.slice(0, 1).map(({ position }) => ({ setting: 'for', position, text: LATER }));
    return { ...policy, for: held, notes: [...notes, ...later] };
  });
}

const LATER = 'a policy before has this scope and condition: this one acts a second later';

/** Names as evictd wants them, unique by a number at the end. */
function withNames(policies: readonly MigratedPolicy[]): NamedPolicy[] {
  const taken = new Set<string>();
  return policies.map((policy) => {
    const wanted = nameOf(policy.title);
    let name = wanted;
    for (let number = 2; taken.has(name); number++) {
      const end = `-${String(number)}`;
      name = `${wanted.slice(0, NAME_LENGTH - end.length).replace(/-+$/, '')}${end}`;
    }
    taken.add(name);
    return { ...policy, name };
  });
}

/** `[a-z0-9]([-a-z0-9]*[a-z0-9])?`, at most 63 letters. */
function nameOf(title: string): string {
  const name = title
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, NAME_LENGTH)
    .replace(/^-+|-+$/g, '');
  return name === '' ? 'policy' : name;
}
