import { emitKeypressEvents, type Key } from 'node:readline';
import type { ReadStream, WriteStream } from 'node:tty';
import {
  cursorHide,
  cursorShow,
  cursorTo,
  enterAlternativeScreen,
  eraseLine,
  eraseScreen,
  exitAlternativeScreen,
  synchronizedOutput,
} from 'ansi-escapes';

/** DECAWM: a character that the terminal takes for wider than evictd does is cut, and does not wrap. */
const [NO_WRAP, WRAP] = ['\u001b[?7l', '\u001b[?7h'];

export interface TerminalStreams {
  readonly input: Pick<ReadStream, 'setRawMode' | 'on' | 'off' | 'resume' | 'pause'> & NodeJS.ReadableStream;
  readonly output: Pick<WriteStream, 'write' | 'columns' | 'rows' | 'on' | 'off'>;
}

export interface TerminalListener {
  /** 'a', 'A', 'ctrl-c', 'shift-tab', 'pagedown', '?'. */
  readonly key: (name: string) => void;
  /** The screen is empty: its size has changed, or the process goes on after it was stopped. */
  readonly emptied: () => void;
  readonly gone: () => void;
}

/** The screen and the keyboard, from its construction until `close`. Whatever ends the process restores them, but for SIGKILL. */
export class Terminal {
  readonly #streams: TerminalStreams;
  readonly #listener: TerminalListener;
  #shown: readonly string[] = [];
  #isOn = false;

  constructor(streams: TerminalStreams, listener: TerminalListener) {
    this.#streams = streams;
    this.#listener = listener;
    const { input, output } = streams;
    emitKeypressEvents(input);
    input.on('keypress', this.#pressed).on('end', listener.gone).on('error', listener.gone);
    output.on('resize', this.redraw);
    process.on('exit', this.#leave).on('SIGQUIT', listener.gone).on('SIGCONT', this.#continued).on('SIGTSTP', this.suspend);
    this.#enter();
  }

  get size(): { readonly columns: number; readonly rows: number } {
    const { columns, rows } = this.#streams.output;
    return { columns: columns || 80, rows: rows || 24 };
  }

  /** Writes the lines that have changed. @param lines  without control characters but colours */
  draw(lines: readonly string[]): void {
    if (!this.#isOn) return;
    const changed = lines.flatMap((line, row) => (line === this.#shown[row] ? [] : [`${cursorTo(0, row)}${eraseLine}${line}`]));
    this.#shown = lines;
    if (changed.length > 0) this.#streams.output.write(synchronizedOutput(changed.join('')));
  }

  /** Suspends like Ctrl-Z: the whole job stops, and this method returns when it continues. */
  readonly suspend = (): void => {
    this.#leave();
    process.off('SIGTSTP', this.suspend);
    process.kill(0, 'SIGTSTP');
    process.on('SIGTSTP', this.suspend);
    this.#continued();
  };

  readonly redraw = (): void => {
    if (!this.#isOn) return;
    this.#shown = [];
    this.#streams.output.write(eraseScreen);
    this.#listener.emptied();
  };

  close(): void {
    const { input, output } = this.#streams;
    this.#leave();
    input.off('keypress', this.#pressed);
    output.off('resize', this.redraw);
    process.off('exit', this.#leave).off('SIGQUIT', this.#listener.gone).off('SIGCONT', this.#continued).off('SIGTSTP', this.suspend);
  }

  /** Sets raw mode again: after SIGSTOP the shell has set its own modes, and Node would take raw mode as set. */
  readonly #continued = (): void => {
    this.#leave();
    this.#enter();
    this.redraw();
  };

  readonly #pressed = (text: string | undefined, { name, ctrl, shift, sequence }: Key): void => {
    const isLetter = text !== undefined && /^[!-~]$/.test(text);
    const key = isLetter ? text : `${ctrl ? 'ctrl-' : shift ? 'shift-' : ''}${name ?? sequence ?? ''}`;
    this.#listener.key(key);
  };

  #enter(): void {
    if (this.#isOn) return;
    this.#isOn = true;
    this.#shown = [];
    this.#streams.input.setRawMode(true);
    this.#streams.input.resume();
    this.#streams.output.write(`${enterAlternativeScreen}${cursorHide}${NO_WRAP}${eraseScreen}`);
  }

  readonly #leave = (): void => {
    if (!this.#isOn) return;
    this.#isOn = false;
    this.#streams.output.write(`${WRAP}${cursorShow}${exitAlternativeScreen}`);
    this.#streams.input.setRawMode(false);
    this.#streams.input.pause();
  };
}
