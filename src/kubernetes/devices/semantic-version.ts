/** Semantic Versioning 2.0.0, without leading zeros. */
const FORM = /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-([0-9A-Za-z.-]+))?(?:\+([0-9A-Za-z.-]+))?$/;

/** The parts that `semver(text, true)` fills in: 'v1', '1.02'. */
const LOOSE_FORM = /^v?(\d+)(?:\.(\d+))?(?:\.(\d+))?([-+].*)?$/;

export class SemanticVersion {
  constructor(
    readonly major: bigint,
    readonly minor: bigint,
    readonly patch: bigint,
    readonly prerelease: readonly string[],
  ) {}

  /** undefined: no version. Build metadata does not count. */
  static parse(text: string): SemanticVersion | undefined {
    const [, major, minor, patch, prerelease, build] = FORM.exec(text) ?? [];
    if (major === undefined || minor === undefined || patch === undefined) return undefined;
    const identifiers = prerelease?.split('.') ?? [];
    const isWrong = identifiers.some((part) => part === '' || /^0\d+$/.test(part)) || build?.split('.').includes('');
    return isWrong === true ? undefined : new SemanticVersion(BigInt(major), BigInt(minor), BigInt(patch), identifiers);
  }

  static parseLoosely(text: string): SemanticVersion | undefined {
    const [, major, minor = '0', patch = '0', rest = ''] = LOOSE_FORM.exec(text) ?? [];
    if (major === undefined) return undefined;
    return SemanticVersion.parse(`${[major, minor, patch].map((part) => String(BigInt(part))).join('.')}${rest}`);
  }

  /** Precedence as in Semantic Versioning 2.0.0, item 11. */
  compareTo(other: SemanticVersion): bigint {
    for (const part of ['major', 'minor', 'patch'] as const) if (this[part] !== other[part]) return this[part] < other[part] ? -1n : 1n;
    if (this.prerelease.length === 0 || other.prerelease.length === 0)
      return BigInt(Number(this.prerelease.length === 0) - Number(other.prerelease.length === 0));
    for (const [index, one] of this.prerelease.entries()) {
      const two = other.prerelease[index];
      if (two === undefined) return 1n;
      if (one !== two) return isBefore(one, two) ? -1n : 1n;
    }
    return this.prerelease.length < other.prerelease.length ? -1n : 0n;
  }
}

/** Numbers by value and before words; words by code units. */
function isBefore(one: string, two: string): boolean {
  const [isNumber, isOtherNumber] = [one, two].map((part) => /^\d+$/.test(part));
  if (isNumber === true && isOtherNumber === true) return BigInt(one) < BigInt(two);
  return isNumber === isOtherNumber ? one < two : isNumber === true;
}
