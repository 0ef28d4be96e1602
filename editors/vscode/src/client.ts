// The server's process and the connection to it.
import * as vscode from 'vscode';
import type { ClientCapabilities, LanguageClient, LanguageClientOptions, StaticFeature } from 'vscode-languageclient/node';
import { askVersion, candidates, find, type Failed, type Found } from './binary';
import { clearServerPath, ownServerPath, serverPath, settings } from './config';

/** The server is started again this many times within that many milliseconds, and then no more. */
const restarts = { most: 4, within: 180_000 };

export type Health = 'starting' | 'running' | 'stopped' | 'failed';

type Handler = (params: never, token: vscode.CancellationToken) => unknown;

export class Server implements vscode.Disposable {
  private client: LanguageClient | undefined;
  private turn: Promise<unknown> = Promise.resolve();
  private crashes: number[] = [];
  private readonly changed = new vscode.EventEmitter<Health>();
  readonly onDidChange = this.changed.event;
  health: Health = 'stopped';
  version = '';

  /** Requests and notifications of the server, and commands whose answers somebody else looks at. */
  readonly requests = new Map<string, Handler>();
  readonly notifications = new Map<string, (params: never) => void>();
  readonly commands = new Map<string, (argument: never) => Promise<unknown>>();

  constructor(private readonly context: vscode.ExtensionContext, readonly log: vscode.LogOutputChannel) {}

  /** Runs one command of the server. */
  async execute<R>(command: string, argument: object = {}, token?: vscode.CancellationToken): Promise<R> {
    await this.turn;
    if (!this.client || this.health !== 'running') {
      throw new Error(vscode.l10n.t('The SideCar server is not running.'));
    }
    const params = { command, arguments: [argument] };
    return token ? this.client.sendRequest<R>('workspace/executeCommand', params, token) : this.client.sendRequest<R>('workspace/executeCommand', params);
  }

  /** Tells what is selected in a document, if the server takes that. */
  select(uri: vscode.Uri, ranges: readonly vscode.Range[]): void {
    const can = this.client?.initializeResult?.capabilities.experimental as { sidecar?: { selection?: boolean } } | undefined;
    if (this.client && this.health === 'running' && can?.sidecar?.selection) {
      void this.client.sendNotification('sidecar/selection', { uri: this.client.code2ProtocolConverter.asUri(uri), ranges: ranges.map(r => this.client?.code2ProtocolConverter.asRange(r)) });
    }
  }

  asDiagnostics(list: vscode.Diagnostic[]): unknown {
    return this.client?.code2ProtocolConverter.asDiagnostics(list);
  }

  /** The server's program, or why there is none that runs. */
  find(): Promise<Found | Failed[]> {
    return find(candidates(serverPath(), this.context.extensionPath, process.platform), command => askVersion(command, vscode.l10n.t));
  }

  start(): Promise<void> { return this.queue(() => this.startNow()); }
  stop(): Promise<void> { return this.queue(() => this.stopNow()); }

  async restart(): Promise<void> {
    this.crashes = [];
    await this.queue(async () => { await this.stopNow(); await this.startNow(); });
  }

  // In the queue: a server that is about to stop could not take it, and the library would report that.
  private configure(): Promise<void> {
    return this.queue(async () => {
      if (this.health === 'running') {
        await this.client?.sendNotification('workspace/didChangeConfiguration', { settings: { sidecar: settings(this.context.extension) } });
      }
    });
  }

  // One start or stop at a time, in the order in which they were asked for.
  private queue(f: () => Promise<void>): Promise<void> {
    const next = this.turn.then(f, f);
    this.turn = next.catch(() => undefined);
    return next;
  }

  private async startNow(): Promise<void> {
    if (this.client) {
      return;
    }
    this.set('starting');
    const found = await this.find();
    if (Array.isArray(found)) {
      this.set('failed');
      void this.explain(found);
      return;
    }
    this.version = found.version;
    this.log.info(`${found.command} (${found.from}), ${found.version}`);
    try {
      this.client = await this.make(found);
      await this.client.start();
    } catch (e) {
      await this.client?.dispose().catch(() => undefined);
      this.client = undefined;
      this.set('failed');
      this.log.error(String(e));
      void this.offer(vscode.l10n.t('The SideCar server does not start: {0}', e instanceof Error ? e.message : String(e)));
    }
  }

  private async stopNow(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    if (client) {
      await client.dispose().catch(e => this.log.warn(String(e)));
    }
    this.set('stopped');
  }

  // The library is loaded here and not with the extension.
  private async make(found: Found): Promise<LanguageClient> {
    const { CloseAction, ErrorAction, LanguageClient, State } = await import('./library');
    // A server that stops learns no more of documents; the library would report each that it can't send.
    const send = async <A>(what: A, next: (what: A) => Promise<void>) => {
      try {
        if (client === this.client) { await next(what); }
      } catch (e) {
        if (client === this.client && client.state === State.Running) { throw e; }
      }
    };
    const options: LanguageClientOptions = {
      documentSelector: [{ scheme: 'file' }, { scheme: 'sidecar-proposed' }],
      outputChannel: this.log,
      initializationOptions: { sidecar: settings(this.context.extension) },
      synchronize: { configurationSection: 'sidecar' },
      middleware: {
        didOpen: send, didChange: send, didSave: send, didClose: send,
        executeCommand: (command, args, next) => {
          const own = this.commands.get(command);
          return own ? own((args[0] ?? {}) as never) : next(command, args);
        },
        workspace: {
          configuration: async (params, token, next) => {
            const answers = await next(params, token);
            return Array.isArray(answers) ? answers.map((a, i) => (params.items[i]?.section === 'sidecar' ? settings(this.context.extension) : a)) : answers;
          },
          didChangeConfiguration: () => this.configure(),
        },
      },
      errorHandler: {
        error: () => ({ action: ErrorAction.Continue, handled: true }), // that it has ended is said once, by closed
        closed: () => ({ action: this.crashed() ? CloseAction.Restart : CloseAction.DoNotRestart, handled: true }),
      },
    };
    const client = new LanguageClient('sidecar', 'SideCar', { command: found.command, args: ['serve'] }, options);
    client.registerFeature(extras);
    for (const [method, handle] of this.requests) {
      client.onRequest(method, (params, token) => handle(params as never, token));
    }
    for (const [method, handle] of this.notifications) {
      client.onNotification(method, params => handle(params as never));
    }
    client.onDidChangeState(e => {
      if (client === this.client) {
        this.set(e.newState === State.Running ? 'running' : e.newState === State.Starting ? 'starting' : 'stopped');
      }
    });
    return client;
  }

  // The connection is gone although nobody asked for that. It reports whether to start again.
  private crashed(): boolean {
    const now = Date.now();
    this.crashes = [...this.crashes.filter(t => now - t < restarts.within), now];
    if (this.crashes.length > restarts.most) {
      this.client = undefined;
      this.set('failed');
      void this.offer(vscode.l10n.t('The SideCar server has ended {0} times in a row and is not started again. Pending edits are kept.', this.crashes.length));
      return false;
    }
    void this.offer(vscode.l10n.t('The SideCar server ended unexpectedly and was started again. Pending edits are kept.'));
    return true;
  }

  private async explain(failed: Failed[]): Promise<void> {
    this.log.error(failed.map(f => `${f.command}: ${f.error}`).join('\n'));
    const [first] = failed;
    if (first?.from === 'setting') {
      return this.explainSetting(first);
    }
    const install = vscode.l10n.t('How to Install');
    if (await this.offer(vscode.l10n.t('No SideCar server runs on this machine ({0}). Install sidecar-ls, then restart the server.', `${process.platform}-${process.arch}`), install) === install) {
      await vscode.env.openExternal(vscode.Uri.parse('https://github.com/sidecar-ls/sidecar-ls/blob/HEAD/docs/install.md'));
    }
  }

  // One button leads on: to the bundled server if that runs and nothing but the user's own setting is in its way, else to the setting.
  private async explainSetting({ command, error }: Failed): Promise<void> {
    const bundled = candidates('', this.context.extensionPath, process.platform).filter(c => c.from === 'bundled');
    const runs = ownServerPath() && !Array.isArray(await find(bundled, program => askVersion(program, vscode.l10n.t)));
    const button = runs ? vscode.l10n.t('Use the Bundled Server') : vscode.l10n.t('Open Settings');
    if (await vscode.window.showErrorMessage(vscode.l10n.t('SideCar can\'t start its server. The setting sidecar.server.path names {0}: {1}.', command, error), button) !== button) {
      return;
    }
    if (runs) {
      await clearServerPath(); // the change starts the server
    }
    if (!runs || serverPath()) {
      await vscode.commands.executeCommand('workbench.action.openSettings', 'sidecar.server.path');
    }
  }

  private async offer(message: string, ...more: string[]): Promise<string | undefined> {
    const log = vscode.l10n.t('Show Log'), again = vscode.l10n.t('Restart');
    const chosen = await vscode.window.showWarningMessage(message, log, ...(this.health === 'failed' ? [again] : []), ...more);
    if (chosen === log) {
      this.log.show(true);
    } else if (chosen === again) {
      await this.restart();
    }
    return chosen;
  }

  private set(health: Health): void {
    if (this.health !== health) {
      this.health = health;
      void vscode.commands.executeCommand('setContext', 'sidecar.health', health);
      this.changed.fire(health);
    }
  }

  dispose(): void {
    void this.stop();
    this.changed.dispose();
  }
}

// What this client can do beyond LSP.
const extras: StaticFeature = {
  getState: () => ({ kind: 'static' }),
  fillClientCapabilities: (capabilities: ClientCapabilities) => {
    capabilities.experimental = {
      ...(capabilities.experimental as object | undefined),
      sidecar: { approve: true, ask: true, diagnostics: true, events: true, pendingEdits: true, knowledge: true, ports: true, save: true },
    };
  },
  initialize: () => undefined,
  clear: () => undefined,
};
