import { isLiteral } from '../core/glob.js';
import { protectedName } from '../core/protected-units.js';
import { unitKind } from '../core/unit.js';

export interface LiftRefusal {
  readonly message: string;
  readonly hint: string;
  /** Where it stands in the rule. */
  readonly path: readonly string[];
  readonly input: unknown;
}

/** A rule as far as it was read. */
interface Written {
  readonly match: { readonly name?: string | undefined };
  readonly critical?: boolean | undefined;
}

/** Why `liftProtection: true` is refused in this rule: it lays bare what nobody means to evict, so that nothing of it may be by accident. */
export function liftRefusal({ match, critical }: Written): LiftRefusal | undefined {
  const { name } = match;
  const refusal = (message: string, hint: string, ...path: string[]): LiftRefusal => ({ message, hint, path, input: true });
  if (name === undefined) {
    return refusal('needs the full name of the unit', 'match: { name: UNIT.service }, one rule for each unit', 'liftProtection');
  }
  if (!isLiteral(name)) {
    const message = `${JSON.stringify(name)} is a pattern: with liftProtection it must be the full name of one unit`;
    return refusal(message, 'one rule for each unit, without * and ?', 'match', 'name');
  }
  if (unitKind(name) === undefined) {
    const message = `${JSON.stringify(name)} is not the full name of a unit`;
    return refusal(message, `write it as systemctl does: ${/\.\w+$/.test(name) ? 'sshd.service' : `${name}.service`}`, 'match', 'name');
  }
  const listed = protectedName(name);
  if (listed?.always) return refusal(`${name} is always protected: ${listed.why}`, 'remove the rule', 'match', 'name');
  return critical === false
    ? undefined
    : refusal(
        'needs critical: false beside it',
        'two keys, so that it is not done by accident: critical: false, liftProtection: true',
        'liftProtection',
      );
}
