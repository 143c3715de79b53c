import type { Io } from '../../../cli/output/io.js';
import { terminalText } from '../../../cli/output/style.js';
import { RESOURCE_SIGNALS, type ResourceSignal } from '../../../core/signal/signal.js';
import type { ReadStatus } from '../command.js';
import { clockTime, type Drawing } from '../screen-line.js';
import type { StatusDocument } from '../status-document.js';
import { Terminal, type TerminalStreams } from './terminal.js';
import { actionOf, FIRST_VIEW, frame, ORDERS, type Note, type View } from './view.js';

export interface LiveParts extends TerminalStreams {
  readonly io: Pick<Io, 'isTTY' | 'env'>;
  readonly drawing: Pick<Drawing, 'unicode' | 'style'>;
  readonly intervalMs: number;
  readonly first: StatusDocument;
  /** A warning of the command on a line that the view hides. */
  readonly warning: string | undefined;
  readonly read: ReadStatus;
  /** The first signal to rank workloads for; undefined: evictd chooses. */
  readonly signal: ResourceSignal | undefined;
  readonly errorText: (error: unknown) => string;
  /** Registers what is called when the process shall stop. */
  readonly onStop: (stop: () => void) => void;
}

/** How long the screen says that evictd runs again. */
const RETURN_SHOWN_MS = 60_000;

/** Shows one status after another until the person, a signal or the end of the terminal ends it. */
export async function live(parts: LiveParts): Promise<void> {
  const top = new Top(parts);
  try {
    await top.ended;
  } finally {
    top.close();
  }
}

class Top {
  /** Rejects with a defect. */
  readonly ended: Promise<void>;
  readonly #stopped = new AbortController();
  readonly #terminal: Terminal;
  #end: () => void = () => undefined;
  #fail: (error: unknown) => void = () => undefined;
  #wake: () => void = () => undefined;
  #status: StatusDocument;
  #signal: ResourceSignal | undefined;
  #view: View = FIRST_VIEW;
  #failure: string | undefined;
  #change: { readonly text: string; readonly untilMs: number } | undefined;

  constructor(private readonly parts: LiveParts) {
    this.#status = parts.first;
    this.#signal = parts.signal;
    this.ended = new Promise((resolve, reject) => {
      this.#end = resolve;
      this.#fail = reject;
    });
    parts.onStop(this.#end);
    this.#terminal = new Terminal(parts, {
      key: (name) => this.#guarded(() => this.#pressed(name)),
      emptied: () => this.#guarded(() => this.#draw()),
      gone: this.#end,
    });
    this.#guarded(() => this.#draw());
    void this.#follow().catch(this.#fail);
  }

  close(): void {
    this.#stopped.abort();
    this.#wake();
    this.#terminal.close();
  }

  async #follow(): Promise<void> {
    const { signal: stopped } = this.#stopped;
    for (;;) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, this.parts.intervalMs);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      if (stopped.aborted) return;
      try {
        this.#received(await this.parts.read({ signal: this.#signal, order: ORDERS[this.#view.order] }, stopped));
      } catch (error) {
        this.#failure = this.parts.errorText(error);
      }
      this.#draw();
    }
  }

  #received(status: StatusDocument): void {
    const [before, now] = [this.#status.evictd, status.evictd];
    const at = clockTime(status.time);
    if (before !== null && now === null) this.#change = { text: `evictd ended before ${at}`, untilMs: Infinity };
    else if (now !== null && before?.pid !== now.pid)
      this.#change = { text: `evictd started again before ${at}`, untilMs: Date.now() + RETURN_SHOWN_MS };
    this.#status = status;
    this.#failure = undefined;
  }

  #pressed(key: string): void {
    const action = actionOf(key);
    if (action === undefined) return;
    if (action === 'quit') this.#end();
    else if (action === 'suspend') this.#terminal.suspend();
    else if (action === 'redraw') this.#terminal.redraw();
    else if (action === 'signal') this.#nextSignal();
    else {
      const { order } = this.#view;
      this.#view = action(this.#view, this.#terminal.size.rows - 2);
      if (this.#view.order !== order) this.#wake();
      this.#draw();
    }
  }

  #nextSignal(): void {
    const { signals, candidates } = this.#status;
    const ranked = RESOURCE_SIGNALS.filter((name) => signals.some(({ signal }) => signal === name));
    this.#signal = ranked[(ranked.findIndex((name) => name === candidates.signal) + 1) % ranked.length];
    this.#wake();
  }

  #draw(): void {
    const { drawing, io } = this.parts;
    const { lines, view } = frame(this.#status, this.#view, { ...drawing, ...this.#terminal.size }, this.#note());
    this.#view = view;
    this.#terminal.draw(lines.map((line) => terminalText(line, io)));
  }

  #note(): Note | undefined {
    if (this.#failure !== undefined) return { text: `${this.#failure}; this is from ${clockTime(this.#status.time)}`, colour: 'red' };
    const change = this.#change && Date.now() < this.#change.untilMs ? this.#change.text : undefined;
    const text = change ?? this.parts.warning;
    return text === undefined ? undefined : { text, colour: 'yellow' };
  }

  /** A defect ends the view instead of the process, so that the terminal is restored before it is reported. */
  #guarded(act: () => void): void {
    try {
      act();
    } catch (error) {
      this.#fail(error);
    }
  }
}
