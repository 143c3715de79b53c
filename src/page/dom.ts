import { printable } from '../core/name/printable.js';

export type Child = Node | string;

type Attributes = Readonly<Record<string, string>>;

/** An element of HTML. Text stays text, whatever is in it: names are chosen by the processes of a workload. */
export function html(tag: string, attributes: Attributes, ...children: readonly Child[]): HTMLElement {
  return filled(document.createElement(tag), attributes, children);
}

export function svg(tag: string, attributes: Attributes, ...children: readonly Child[]): SVGElement {
  return filled(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, children);
}

function filled<E extends Element>(element: E, attributes: Attributes, children: readonly Child[]): E {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children.map((child) => (typeof child === 'string' ? printable(child) : child)));
  return element;
}

export function byId(id: string): HTMLElement {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`there is no element ${id}`);
  return element;
}

export interface Cell {
  readonly content: Child;
  readonly class?: string;
  readonly level?: string | undefined;
}

export interface Heading {
  readonly text: string;
  readonly class?: string;
}

/**
 * A table that scrolls by itself where it is too wide. With a column of names or texts a row becomes a list on a phone; the roles keep it a
 * table for a screen reader.
 */
export function table(caption: string, headings: readonly Heading[], rows: readonly (readonly Cell[])[]): HTMLElement {
  const head = headings.map(({ text, class: of = '' }) => html('th', { scope: 'col', role: 'columnheader', class: of }, text));
  const row = (cells: readonly Cell[]): HTMLElement =>
    html(
      'tr',
      { role: 'row' },
      ...cells.map(({ content, level = '' }, index) => {
        const { text = '', class: of = '' } = headings[index] ?? {};
        return html('td', { role: 'cell', class: of, 'data-level': level, 'data-heading': text }, ...(content === '' ? [] : [content]));
      }),
    );
  return html(
    'div',
    { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': caption },
    html(
      'table',
      { role: 'table', class: headings.some(({ class: of }) => of === 'name') ? 'rows' : '' },
      html('caption', {}, caption),
      html('thead', { role: 'rowgroup' }, html('tr', { role: 'row' }, ...head)),
      html('tbody', { role: 'rowgroup' }, ...rows.map(row)),
    ),
  );
}
