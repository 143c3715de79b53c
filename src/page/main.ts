import { explanationText } from '../features/explain/explain-text.js';
import type { Explanation } from '../features/explain/explanation.js';
import { clockTime } from '../features/status/screen-line.js';
import { headLines } from '../features/status/status-screen.js';
import { rankingQuery, type AskedRanking } from '../features/status/candidate-order.js';
import type { RankingDocument, StatusDocument } from '../features/status/status-document.js';
import { byId, html } from './dom.js';
import { follow } from './follow.js';
import { notices, SECTIONS, type Section } from './sections.js';

interface Placed {
  readonly section: Section;
  readonly element: HTMLElement;
  /** What is shown, as text: an unchanged section keeps its selection and its focus. */
  shown: string;
}

const placed = SECTIONS.map((section, index): Placed => {
  const id = `section-${String(index)}`;
  const element = html(
    'section',
    { 'aria-labelledby': id, hidden: '', ...(section.wide && { class: 'wide' }) },
    html('h2', { id }, section.title),
    html('form', { class: 'choices' }),
    html('div', {}),
  );
  return { section, element, shown: '' };
});
byId('sections').replaceChildren(...placed.map(({ element }) => element));

let asked: AskedRanking = {};
let last: StatusDocument | undefined;

/** Shows the status with the candidates that the person has chosen. A later status wins. */
async function showChosen(status: StatusDocument): Promise<void> {
  last = status;
  const query = rankingQuery(asked);
  if (query === '') {
    show(status);
    return;
  }
  const answer = await fetch(`api/v1/ranking?${query}`).catch(() => undefined);
  const ranking = answer?.ok ? ((await answer.json()) as RankingDocument) : undefined;
  if (status === last && query === rankingQuery(asked)) show({ ...status, ...(ranking && { candidates: ranking.candidates }) });
}

function show(status: StatusDocument): void {
  const [first] = notices(status);
  state(first?.colour ?? 'good', first?.text ?? 'No threshold is met, and everything is watched.');
  byId('about').textContent = headLines(status)[0]?.text ?? '';
  byId('time').textContent = `As of ${clockTime(status.time)}.`;
  byId('sections').classList.remove('stale');
  document.title = `${first === undefined ? '' : '! '}evictd on ${status.node.name}`;
  for (const each of placed) place(each, status);
}

function place(each: Placed, status: StatusDocument): void {
  const choices = each.element.querySelector('form');
  if (choices?.childNodes.length === 0) choices.replaceChildren(...(each.section.choices?.(status) ?? []));
  const content = html('div', {}, ...each.section.show(status));
  const shown = content.outerHTML;
  if (shown === each.shown) return;
  each.shown = shown;
  each.element.hidden = content.childNodes.length === 0;
  const before = each.element.lastElementChild;
  const focused = document.activeElement instanceof HTMLElement ? document.activeElement.dataset.workload : undefined;
  const scrolled = before?.querySelector('.scroll')?.scrollLeft ?? 0;
  before?.replaceWith(content);
  content.querySelector('.scroll')?.scrollTo({ left: scrolled });
  for (const button of content.querySelectorAll('button')) {
    if (button.dataset.workload === focused) button.focus({ preventScroll: true });
  }
}

/** Shows the state. A screen reader announces it, so an unchanged text is not set again. */
function state(level: string, text: string): void {
  const element = byId('state');
  if (element.textContent === text) return;
  element.dataset.level = level;
  element.textContent = text;
}

async function explain(workload: string, signal: string): Promise<void> {
  const [dialog, title] = [byId('explanation') as HTMLDialogElement, byId('explained')];
  const body = dialog.querySelector('pre');
  title.textContent = 'Asking evictd …';
  if (body) body.textContent = '';
  dialog.showModal();
  const text = await fetch(`api/v1/explain?${new URLSearchParams({ workload, signal }).toString()}`)
    .then((answer) => answer.json() as Promise<Explanation | { readonly error: { readonly message: string } }>)
    .then((answer) => ('error' in answer ? answer.error.message : explanationText(answer, (_colour, line) => line)))
    .catch((error: unknown) => `evictd does not answer: ${String(error)}`);
  title.textContent = 'Why it is here in the order';
  if (body) body.textContent = text;
}

byId('sections').addEventListener('click', ({ target }) => {
  const { workload, signal } = target instanceof HTMLElement ? target.dataset : {};
  if (workload !== undefined && signal !== undefined) void explain(workload, signal);
});

byId('sections').addEventListener('change', ({ target }) => {
  if (!(target instanceof HTMLSelectElement)) return;
  asked = { ...asked, [target.name]: target.value };
  if (last) void showChosen(last);
});

follow(
  (status) => void showChosen(status),
  (reason) => {
    state('red', reason);
    byId('sections').classList.add('stale');
  },
);
