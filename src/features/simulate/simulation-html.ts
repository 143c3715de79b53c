import { createHash } from 'node:crypto';
import type { NodeUse, Use } from '../../core/simulation/outcome.js';
import { findingText } from '../kubernetes/cluster/finding.js';
import type { SimulationReport } from './simulation-report.js';
import { changedNodes, headText, outcomeText, share, timelineRows } from './simulation-text.js';

/** The number of nodes, and of rows of the timeline, that are shown. */
const MAX_NODES = 300;
const MAX_ROWS = 5000;

const STYLE = `:root{color-scheme:light dark;--page:#f6f7f9;--card:#fff;--text:#1a1f26;--dim:#56606c;--edge:#d5dae1;--bar:#1f5fa8;--old:#6c7c90;--bad:#b3261e}
@media (prefers-color-scheme:dark){:root{--page:#11151a;--card:#1a2027;--text:#e6eaef;--dim:#a3adb9;--edge:#323b46;--bar:#7db7f5;--old:#8795a6;--bad:#ff8f85}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:80rem;padding:.75rem;background:var(--page);color:var(--text);font:15px/1.45 system-ui,sans-serif;overflow-wrap:anywhere}
h1{font-size:1.35rem;margin:0}h2{font-size:1.05rem;margin:1.25rem 0 .5rem}h3{font-size:.95rem;margin:0 0 .35rem}p{margin:.35rem 0}
.nodes{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,19rem),1fr));gap:.6rem;list-style:none;margin:0;padding:0}
.nodes li{background:var(--card);border:1px solid var(--edge);border-radius:.4rem;padding:.6rem}
.use{display:grid;grid-template-columns:4rem 3.6rem 1fr 3.2rem;gap:.15rem .5rem;align-items:center;font-size:.85rem;margin:0}
.use dt{grid-column:1}.use dd{margin:0;color:var(--dim)}.use .share{text-align:right;color:var(--text);font-variant-numeric:tabular-nums}
svg{display:block;width:100%;height:.7rem}.track{fill:var(--edge)}.before{fill:var(--old)}.after{fill:var(--bar)}.full{fill:var(--bad)}
table{border-collapse:collapse;width:100%}th,td{text-align:left;vertical-align:top;padding:.3rem .6rem .3rem 0;border-bottom:1px solid var(--edge)}
td:first-child{white-space:nowrap;color:var(--dim);font-variant-numeric:tabular-nums}td:nth-child(2){white-space:nowrap}
.action td{font-weight:600;color:var(--text);padding-top:.9rem}.dim{color:var(--dim)}
@media (max-width:40rem){table,tbody,tr,td{display:block}thead{position:absolute;clip-path:inset(50%)}tr{border-bottom:1px solid var(--edge);padding:.35rem 0}td{display:inline;border:0;padding:0 .4rem 0 0}td:last-child{display:block}}`;

/** One page without scripts that asks for nothing: the outcome, nodes as bars, the timeline. */
export function simulationHtml(report: SimulationReport): string {
  const hash = createHash('sha256').update(STYLE).digest('base64');
  const policy = `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>evictd simulate</title>
<style>${STYLE}</style>
</head>
<body>
<header><h1>evictd simulate</h1><p>${escaped(outcomeText(report))}</p><p class="dim">${escaped(headText(report))}</p></header>
<main>
${nodesHtml(report)}
${timelineHtml(report)}
${findingsHtml(report)}
</main>
</body>
</html>
`;
}

function nodesHtml(report: SimulationReport): string {
  const changed = changedNodes(report);
  const cards = changed.slice(0, MAX_NODES).map(([before, after]) => nodeHtml(before, after));
  const more = changed.length - cards.length;
  const rest = more > 0 ? `<p class="dim">and ${String(more)} more nodes</p>` : '';
  const list = cards.length === 0 ? '<p>No node has more or fewer pods than before.</p>' : `<ul class="nodes">\n${cards.join('\n')}\n</ul>`;
  return `<section aria-labelledby="nodes"><h2 id="nodes">Nodes that change</h2>\n${list}${rest}</section>`;
}

function nodeHtml(before: NodeUse, after: NodeUse): string {
  const rows = (['cpu', 'memory', 'pods'] as const).map((name) => {
    const bars = [barHtml('before', before[name]), barHtml('after', after[name])];
    return `<dt>${name}</dt>${bars.join('')}`;
  });
  return `<li><h3>${escaped(before.node)}</h3><dl class="use">${rows.join('')}</dl></li>`;
}

/** SVG, because a style attribute is against the page's policy. */
function barHtml(when: 'before' | 'after', use: Use): string {
  const percent = use.allocatable === 0n ? 0 : Math.min(100, (100 * Number(use.used)) / Number(use.allocatable));
  const kind = use.used > use.allocatable ? 'full' : when;
  const width = percent.toFixed(1);
  const bar = `<svg aria-hidden="true"><rect class="track" width="100%" height="100%" rx="2"/><rect class="${kind}" width="${width}%" height="100%" rx="2"/></svg>`;
  const column = when === 'before' ? '' : '<dd></dd>';
  return `${column}<dd>${when}</dd><dd>${bar}</dd><dd class="share">${share(use)}</dd>`;
}

function timelineHtml({ events }: SimulationReport): string {
  const all = timelineRows(events);
  const rows = all.slice(0, MAX_ROWS).map(({ time, verb, text }) => {
    const isAction = verb === '';
    return `<tr${isAction ? ' class="action"' : ''}><td>${escaped(time)}</td><td>${escaped(verb)}</td><td>${escaped(text)}</td></tr>`;
  });
  const more = all.length - rows.length;
  const head = '<thead><tr><th scope="col">time</th><th scope="col">what</th><th scope="col">details</th></tr></thead>';
  const rest = more > 0 ? `<p class="dim">and ${String(more)} more</p>` : '';
  return `<section aria-labelledby="timeline"><h2 id="timeline">Timeline</h2>\n<table>${head}<tbody>\n${rows.join('\n')}\n</tbody></table>${rest}</section>`;
}

function findingsHtml({ cluster: { findings } }: SimulationReport): string {
  if (findings.list.length === 0) return '';
  const lines = findings.list.slice(0, MAX_NODES).map((finding) => `<li>${escaped(findingText(finding))}</li>`);
  return `<section aria-labelledby="findings"><h2 id="findings">In the input</h2><ul>\n${lines.join('\n')}\n</ul></section>`;
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}
