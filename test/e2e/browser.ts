import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { onTestFinished } from 'vitest';
import { scratchDirectory } from './evictd.js';

/** A message of Chrome's DevTools protocol. */
interface Message {
  readonly id?: number;
  readonly sessionId?: string;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly message: string };
}

export interface Window {
  readonly width: number;
  readonly height: number;
  readonly scheme: 'light' | 'dark';
  /** Given where a server asks for it. */
  readonly password?: string;
}

/** A page in a headless Chromium (Debian's), by its DevTools protocol. It ends with the test. */
export class Browser {
  readonly #write: Writable;
  readonly #answers = new Map<number, { resolve: (result: Readonly<Record<string, unknown>>) => void; reject: (error: Error) => void }>();
  #session: string | undefined;
  #last = 0;
  #password: string | undefined;
  /** What the page has asked for. */
  readonly requests: string[] = [];
  /** What the console or the browser said against it. */
  readonly complaints: string[] = [];

  private constructor() {
    const profile = scratchDirectory();
    const args = [
      '--headless=new',
      '--no-sandbox',
      '--disable-gpu',
      '--hide-scrollbars',
      '--disable-dev-shm-usage',
      '--remote-debugging-pipe',
    ];
    const quiet = ['--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'];
    const child = spawn('chromium', [...args, ...quiet, `--user-data-dir=${profile}`, 'about:blank'], {
      stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
      detached: true,
    });
    onTestFinished(async () => {
      const ended = new Promise((resolve) => child.once('close', resolve));
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
      await ended;
      rmSync(profile, { recursive: true, force: true, maxRetries: 20 });
    });
    this.#write = child.stdio[3] as Writable;
    let text = '';
    (child.stdio[4] as Readable).setEncoding('utf8').on('data', (part: string) => {
      const messages = (text + part).split('\0');
      text = messages.pop() ?? '';
      for (const message of messages) this.#received(JSON.parse(message) as Message);
    });
  }

  static async open(): Promise<Browser> {
    const browser = new Browser();
    const { targetId } = await browser.send('Target.createTarget', { url: 'about:blank' });
    const { sessionId } = await browser.send('Target.attachToTarget', { targetId, flatten: true });
    browser.#session = String(sessionId);
    for (const domain of ['Page', 'Runtime', 'Network', 'Log']) await browser.send(`${domain}.enable`);
    return browser;
  }

  async visit(url: string, { width, height, scheme, password }: Window): Promise<void> {
    await this.send('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: width < 600 });
    await this.send('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value: scheme }] });
    this.#password = password;
    if (password !== undefined) await this.send('Fetch.enable', { handleAuthRequests: true });
    await this.send('Page.navigate', { url });
  }

  /** The value of an expression, also that of a promise. */
  async evaluate<T>(expression: string): Promise<T> {
    const { result, exceptionDetails } = await this.send('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true });
    if (exceptionDetails !== undefined) throw new Error(JSON.stringify(exceptionDetails));
    return (result as { readonly value: T }).value;
  }

  /** The whole page as PNG. */
  async screenshot(): Promise<Buffer> {
    const { data } = await this.send('Page.captureScreenshot', { captureBeyondViewport: true });
    return Buffer.from(String(data), 'base64');
  }

  send(method: string, params: Readonly<Record<string, unknown>> = {}): Promise<Readonly<Record<string, unknown>>> {
    const id = (this.#last += 1);
    const session = this.#session === undefined ? {} : { sessionId: this.#session };
    this.#write.write(`${JSON.stringify({ id, method, params, ...session })}\0`);
    return new Promise((resolve, reject) => this.#answers.set(id, { resolve, reject }));
  }

  #received({ id, method, params = {}, result = {}, error }: Message): void {
    const waiting = this.#answers.get(id ?? 0);
    if (error) waiting?.reject(new Error(error.message));
    else waiting?.resolve(result);
    const { requestId } = params;
    if (method === 'Fetch.requestPaused') void this.send('Fetch.continueRequest', { requestId });
    if (method === 'Fetch.authRequired') {
      const authChallengeResponse = { response: 'ProvideCredentials', username: 'me', password: this.#password };
      void this.send('Fetch.continueWithAuth', { requestId, authChallengeResponse });
    }
    if (method === 'Network.requestWillBeSent') this.requests.push((params.request as { readonly url: string }).url);
    if (method === 'Runtime.exceptionThrown' || method === 'Log.entryAdded') this.complaints.push(JSON.stringify(params));
    if (method === 'Runtime.consoleAPICalled' && params.type === 'error') this.complaints.push(JSON.stringify(params));
  }
}
