/** A metric family as the text exposition format 0.0.4 writes it. Samples by 'name{label="value",…}' as written. */
export interface Family {
  readonly type: string;
  readonly help: string;
  readonly samples: Record<string, number>;
}

const NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const SAMPLE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(\{(?:[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\["\\n])*",?)*\})? (\S+)$/;

/**
 * Reads an exposition strictly: each family once, HELP and TYPE before its samples, which stand together and bear its
 * name (a histogram's with _bucket, _sum, _count), no sample twice, a line end at the end. Throws with the line that is
 * wrong.
 */
export function parseExposition(text: string): Map<string, Family> {
  if (!text.endsWith('\n')) throw new Error('no line end at the end');
  const families = new Map<string, Family>();
  let name = '';
  let help = '';
  for (const line of text.slice(0, -1).split('\n')) {
    if (line === '') continue;
    const comment = /^# (HELP|TYPE) (\S+) (.+)$/.exec(line);
    if (comment) {
      const [, what, of = '', rest = ''] = comment;
      if (!NAME.test(of)) throw new Error(`bad name: ${line}`);
      if (what === 'HELP') {
        if (families.has(of)) throw new Error(`twice: ${line}`);
        [name, help] = [of, rest];
      } else {
        if (of !== name) throw new Error(`TYPE of another family: ${line}`);
        families.set(of, { type: rest, help, samples: {} });
      }
      continue;
    }
    const [, sample = '', labels = '', value = ''] = SAMPLE.exec(line) ?? [];
    const family = families.get(name);
    const base = family?.type === 'histogram' ? sample.replace(/_(bucket|sum|count)$/, '') : sample;
    if (!family || base !== name) throw new Error(`not a sample of ${name}: ${line}`);
    if (sample + labels in family.samples) throw new Error(`twice: ${line}`);
    if (!/^([+-]?Inf|NaN|[+-]?[\d.]+(e[+-]?\d+)?)$/i.test(value)) throw new Error(`not a number: ${line}`);
    family.samples[sample + labels] = Number(value);
  }
  return families;
}
