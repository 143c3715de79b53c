const ASCII = /^[ -~]*$/;
/** East Asian wide characters and emoji (Unicode's EastAsianWidth.txt: W and F, by block). */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1f64f}\u{1f680}-\u{1f6ff}\u{1f900}-\u{1faff}\u{20000}-\u{3fffd}]/u;
const COMBINING = /\p{M}/u;

const columnsOf = (character: string): number => (WIDE.test(character) ? 2 : COMBINING.test(character) ? 0 : 1);

/** How many columns of a terminal printable text takes. */
export function textColumns(text: string): number {
  return ASCII.test(text) ? text.length : Array.from(text).reduce((sum, character) => sum + columnsOf(character), 0);
}

/** Text that takes no more than `columns`; `mark` stands for what was cut off. */
export function clipped(text: string, columns: number, mark: string): string {
  if (textColumns(text) <= columns) return text;
  let left = columns - mark.length;
  const kept = Array.from(text).findIndex((character) => (left -= columnsOf(character)) < 0);
  return `${Array.from(text).slice(0, kept).join('')}${mark}`;
}
