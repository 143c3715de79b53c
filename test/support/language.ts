/** Riddles and words for people: texts name the thing instead ("the workload", "no workload"). */
const CONDEMNED = ['whoever', 'whom', 'nobody', 'somebody', 'told of', 'gone before', "is another's", 'whose turn'];

const PATTERN = new RegExp(`\\b(?:${CONDEMNED.join('|')})\\b`, 'gi');

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
