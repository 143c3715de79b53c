import { isLiteral } from '../core/glob.js';
import { isSliceName, isTemplate, unitKind } from '../core/unit.js';
import { TextError } from './text.js';

/** What a unit's name may be made of; patterns have `*` and `?` besides. */
const CHARACTERS = /[^A-Za-z0-9:_.\\@*?-]/;

/**
 * The name of a slice, as systemd writes it ('batch.slice').
 *
 * @throws TextError
 */
export function sliceText(text: string): string {
  if (!isLiteral(text)) throw refusal(`not one slice: ${text}`, 'name each slice; those below it are part of it');
  const example = sliceMeant(text);
  if (isSliceName(text)) return text;
  const kind = unitKind(text);
  if (kind === 'service' || kind === 'scope') throw refusal(`a ${kind} is no slice: ${text}`, `name it below units: [${text}]`);
  if (kind === 'slice')
    throw refusal(
      `not the name of a slice: ${text}`,
      'no @, and no dash at the beginning, at the end or beside another: batch-night.slice',
    );
  throw refusal(`not the name of a slice: ${JSON.stringify(text)}`, `write it as systemctl does: ${example}`);
}

/**
 * The name of a service or a scope ('web.service'), or a pattern of such names ('web@*.service').
 *
 * @throws TextError
 */
export function unitText(text: string): string {
  const kind = unitKind(text.replace(/[*?]/g, 'x'));
  if (kind === 'slice') throw refusal(`a slice is no unit with processes: ${text}`, `name it below slices: [${text}]`);
  if (isTemplate(text)) throw refusal(`a template does not run: ${text}`, `its instances are ${text.replace('@.', '@*.')}`);
  if (kind === 'service' || kind === 'scope') return text;
  if (kind !== undefined) throw refusal(`a ${kind} is no workload: ${text}`, 'name a service or a scope: web.service, run-*.scope');
  const meant = text !== '' && !CHARACTERS.test(text) ? `${text.replace(/\.\w*$/, '')}.service` : 'web.service';
  throw refusal(`not the name of a service or a scope: ${JSON.stringify(text)}`, `write it as systemctl does: ${meant}`);
}

/** '/sys/fs/cgroup/batch.slice' → 'batch.slice', 'batch' → 'batch.slice'. */
function sliceMeant(text: string): string {
  const name = text
    .replace(/\/+$/, '')
    .replace(/^.*\//, '')
    .replace(/\.slice$/, '');
  return name !== '' && isSliceName(`${name}.slice`) ? `${name}.slice` : 'batch.slice';
}

function refusal(message: string, hint: string): TextError {
  return new TextError('EVICTD_CONFIG_UNIT', message, hint);
}
