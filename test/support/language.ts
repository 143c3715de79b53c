/** Riddles and words for people: a reader at night needs the name of the thing instead ("the workload", "no workload"). */
const CONDEMNED = ['whoever', 'whom', 'nobody', 'somebody', 'told of', 'gone before', "is another's", 'whose turn'];

const PATTERN = new RegExp(`\\b(?:${CONDEMNED.join('|')})\\b`, 'gi');

/** Every condemned word in `text`, in small letters. */
export function condemnedWords(text: string): string[] {
  return (text.match(PATTERN) ?? []).map((word) => word.toLowerCase());
}
