// The syntax of keys and values of labels, which keys and values of taints have, too (apimachinery/pkg/util/validation, v1.36.2).

const CHARACTERS = "consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
const NAME = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';
const VALUE = `(${NAME})?`;
const SUBDOMAIN = '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*';
const NAME_EXAMPLES = ['MyName', 'my.name', '123-abc'];
const MAX_NAME = 63;
const MAX_SUBDOMAIN = 253;

/** What is wrong with the value of a label; empty: nothing. */
export function labelValueErrors(value: string): readonly string[] {
  return [
    ...tooLong(value, MAX_NAME),
    ...matching(value, VALUE, `a valid label must be an empty string or ${CHARACTERS}`, ['MyValue', 'my_value', '12345']),
  ];
}

/** What is wrong with the key of a label: an optional DNS subdomain and '/', and a name. Empty: nothing. */
export function labelKeyErrors(key: string): readonly string[] {
  const [first = '', second, ...more] = key.split('/');
  if (more.length > 0) {
    const qualified = regexText(`a qualified name must ${CHARACTERS}`, NAME, NAME_EXAMPLES);
    return [`${qualified} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`];
  }
  const prefix = second === undefined ? [] : subdomainErrors(first).map((message) => `prefix part ${message}`);
  const name = second ?? first;
  const ofName =
    name === ''
      ? ['must be non-empty', ...matching(name, NAME, `must ${CHARACTERS}`, NAME_EXAMPLES)]
      : [...tooLong(name, MAX_NAME), ...matching(name, NAME, `must ${CHARACTERS}`, NAME_EXAMPLES)];
  return [...prefix, ...ofName.map((message) => `name part ${message}`)];
}

function subdomainErrors(prefix: string): readonly string[] {
  if (prefix === '') return ['must be non-empty'];
  const what =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character";
  return [...tooLong(prefix, MAX_SUBDOMAIN), ...matching(prefix, SUBDOMAIN, what, ['example.com'])];
}

function tooLong(text: string, most: number): readonly string[] {
  return new TextEncoder().encode(text).length > most ? [`must be no more than ${String(most)} bytes`] : [];
}

function matching(text: string, pattern: string, message: string, examples: readonly string[]): readonly string[] {
  return new RegExp(`^(?:${pattern})$`).test(text) ? [] : [regexText(message, pattern, examples)];
}

function regexText(message: string, pattern: string, examples: readonly string[]): string {
  const shown = examples.map((example) => `'${example}', `).join(' or ');
  return `${message} (e.g. ${shown}regex used for validation is '${pattern}')`;
}
