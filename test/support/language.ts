/** Riddles and words for people: texts name the thing instead ("the workload", "no workload"). */
const CONDEMNED = ['whoever', 'whom', 'nobody', 'somebody', 'told of', 'gone before', "is another's", 'whose turn'];

/** 'it is no YAML': not YAML. 'there is no YAML' stays. */
const DENIED = String.raw`(?<!\bthere )(?:is|are|was|were) no (?!longer\b|more\b|such\b)[a-z]+`;

const PATTERN = new RegExp(`\\b(?:${[...CONDEMNED, DENIED].join('|')})\\b`, 'gi');

/** Every condemned word in `text`, in lower case. */
export function condemnedWords(text: string): string[] {
  return (text.match(PATTERN) ?? []).map((word) => word.toLowerCase());
}

/** Pronouns for people. Comments and names of tests do not have them either. */
const PRONOUNS = /\b(?:whoever|whom|nobody|somebody|everybody)\b/gi;

/** Every pronoun for a person in `text`, in lower case. */
export function personWords(text: string): string[] {
  return (text.match(PRONOUNS) ?? []).map((word) => word.toLowerCase());
}
