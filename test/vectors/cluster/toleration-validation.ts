// The validation of a pod's tolerations by the API server (pkg/apis/core/validation, v1.36.2).
import { int64, type ComparisonGate, type TimedToleration } from './taint.js';

export interface FieldError {
  readonly type: 'FieldValueInvalid' | 'FieldValueNotSupported';
  readonly field: string;
  /** With the field in front. */
  readonly message: string;
}

const EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];
const CHARACTERS = "consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
const NAME = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';
const VALUE = `(${NAME})?`;
const SUBDOMAIN = '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*';
const NAME_EXAMPLES = ['MyName', 'my.name', '123-abc'];
const MAX_NAME = 63;
const MAX_SUBDOMAIN = 253;

export function validateToleration(toleration: TimedToleration, field: string, gate: ComparisonGate): readonly FieldError[] {
  const { key, operator, value, effect, tolerationSeconds } = toleration;
  const invalid = (name: string, given: string, message: string): FieldError => ({
    type: 'FieldValueInvalid',
    field: `${field}.${name}`,
    message: `${field}.${name}: Invalid value: ${JSON.stringify(given)}: ${message}`,
  });
  const unsupported = (name: string, given: string, supported: readonly string[]): FieldError => ({
    type: 'FieldValueNotSupported',
    field: `${field}.${name}`,
    message: `${field}.${name}: Unsupported value: ${JSON.stringify(given)}: supported values: ${supported.map((word) => JSON.stringify(word)).join(', ')}`,
  });
  const errors = key === '' ? [] : labelNameErrors(key).map((message) => invalid('key', key, message));
  if (key === '' && operator !== 'Exists')
    errors.push(invalid('operator', operator, 'operator must be Exists when `key` is empty, which means "match all values and all keys"'));
  if (tolerationSeconds !== undefined && effect !== 'NoExecute')
    errors.push(invalid('effect', effect, "effect must be 'NoExecute' when `tolerationSeconds` is set"));
  switch (operator) {
    case '':
    case 'Equal':
      errors.push(...joined(labelValueErrors(value)).map((message) => invalid('operator', value, message)));
      break;
    case 'Exists':
      if (value !== '') errors.push(invalid('operator', value, "value must be empty when `operator` is 'Exists'"));
      break;
    case 'Lt':
    case 'Gt':
      if (gate === 'off') errors.push(unsupported('operator', operator, ['Equal', 'Exists', 'Lt', 'Gt']));
      else errors.push(...integerErrors(value).map((message) => invalid('value', value, message)));
      break;
    default:
      errors.push(unsupported('operator', operator, ['Equal', 'Exists']));
  }
  if (effect !== '' && !EFFECTS.includes(effect)) errors.push(unsupported('effect', effect, EFFECTS));
  return errors;
}

/** One error for all. */
function joined(messages: readonly string[]): readonly string[] {
  return messages.length === 0 ? [] : [messages.join(';')];
}

/** A canonical integer that fits into 64 bits. Go's parser accepts a plus sign and leading zeros, and names the rest. */
function integerErrors(value: string): readonly string[] {
  if (int64(value) !== undefined) return [];
  const canonical = /^(0|-?[1-9][0-9]*)$/.test(value) ? [] : ['must be a valid decimal integer in canonical form'];
  const parsing = `strconv.ParseInt: parsing ${JSON.stringify(value)}`;
  if (!/^[-+]?[0-9]+$/.test(value)) return [...canonical, `${parsing}: invalid syntax`];
  const number = BigInt(value.replace(/^\+/, ''));
  return number === BigInt.asIntN(64, number) ? canonical : [...canonical, `${parsing}: value out of range`];
}

function labelValueErrors(value: string): readonly string[] {
  return [
    ...tooLong(value, MAX_NAME),
    ...matching(value, VALUE, `a valid label must be an empty string or ${CHARACTERS}`, ['MyValue', 'my_value', '12345']),
  ];
}

/** An optional DNS subdomain and '/', and a name. */
function labelNameErrors(key: string): readonly string[] {
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
  return Buffer.byteLength(text) > most ? [`must be no more than ${String(most)} bytes`] : [];
}

function matching(text: string, pattern: string, message: string, examples: readonly string[]): readonly string[] {
  return new RegExp(`^(?:${pattern})$`).test(text) ? [] : [regexText(message, pattern, examples)];
}

function regexText(message: string, pattern: string, examples: readonly string[]): string {
  const shown = examples.map((example) => `'${example}', `).join(' or ');
  return `${message} (e.g. ${shown}regex used for validation is '${pattern}')`;
}
