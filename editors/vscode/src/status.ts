// The status bar: the mode, what is pending, and what the server is at.
import * as vscode from 'vscode';
import type { Server } from './client';
import type { IndexStatus } from './protocol';
import type { Questions } from './questions/questions';
import type { Pending } from './review/store';

const t = vscode.l10n.t;

export class Status implements vscode.Disposable {
  private readonly mode = vscode.window.createStatusBarItem('sidecar.mode', vscode.StatusBarAlignment.Left, 11);
  private readonly count = vscode.window.createStatusBarItem('sidecar.count', vscode.StatusBarAlignment.Left, 10);
  private readonly index = vscode.window.createStatusBarItem('sidecar.index', vscode.StatusBarAlignment.Left, 9);
  private current = '';
  /** The mode of the run on the screen. */
  ofRun: () => { mode: string; title: string } | undefined = () => undefined;

  constructor(private readonly server: Server, private readonly pending: Pending, private readonly questions: Questions) {
    this.mode.name = t('SideCar: mode');
    this.count.name = t('SideCar: pending changes');
    this.index.name = t('SideCar: project index');
    server.commands.set('sidecar.mode.set', async (a: { session?: string; mode: string }) => {
      const result = await server.execute('sidecar.mode.set', a);
      await this.refresh();
      return result;
    });
    server.onDidChange(() => { this.show(); void this.refresh(); });
    pending.onDidChange(() => this.show());
    questions.onDidChange(() => this.show());
    this.show();
    this.mode.show();
  }

  /** Asks for the mode again. */
  async refresh(): Promise<void> {
    if (this.server.health !== 'running') {
      return;
    }
    try {
      this.current = (await this.server.execute<{ mode: string }>('sidecar.mode.get')).mode;
    } catch {
      this.current = ''; // no folder is open
    }
    this.show();
  }

  async pick(): Promise<void> {
    if (this.server.health === 'failed' || this.server.health === 'stopped') {
      await this.server.restart();
      return;
    }
    const { modes } = await this.server.execute<{ modes: { name: string; description: string }[] }>('sidecar.mode.list');
    const chosen = await vscode.window.showQuickPick(
      // the one that holds comes first, so that Enter alone changes nothing
      [...modes].sort((a, b) => Number(b.name === this.current) - Number(a.name === this.current)).map(m => ({ label: m.name, detail: m.description, description: m.name === this.current ? t('now') : '' })),
      { title: t('Mode of this session'), placeHolder: t('What is asked, and where edits go') });
    if (chosen) {
      await this.server.execute('sidecar.mode.set', { mode: chosen.label });
      await this.refresh();
    }
  }

  /** Shows what the index is at when a question to it begins and when it is answered. */
  async watchIndex(e: { tool: string }): Promise<void> {
    if (e.tool !== 'project_knowledge_search') {
      return;
    }
    try {
      this.showIndex(await this.server.execute<IndexStatus>('sidecar.knowledge.status'));
    } catch {
      this.index.hide();
    }
  }

  /** Shows what the index is at, as the server says whenever that changes. */
  showIndex(s: IndexStatus): void {
    this.index.text = s.ready ? `$(book) ${s.files}` : `$(sync~spin) ${t('indexing, {0} files', Math.max(s.files, s.looked))}`;
    this.index.tooltip = [
      t('Project index: {0} files, {1} symbols', s.files, s.symbols),
      s.parsed < s.parseable ? t('{0} of {1} source files are parsed', s.parsed, s.parseable) : '',
      s.error ?? '',
    ].filter(Boolean).join('\n');
    this.index.show();
  }

  show(): void {
    const down = { stopped: '$(debug-disconnect) SideCar', failed: '$(error) SideCar', starting: '$(sync~spin) SideCar', running: '' }[this.server.health];
    const run = this.ofRun(), mode = run?.mode ?? this.current;
    this.mode.text = down || `$(shield) ${mode || 'SideCar'}${vscode.workspace.isTrusted ? '' : ' ' + t('(restricted)')}`;
    this.mode.tooltip = down
      ? { stopped: t('The SideCar server is not running. Click to start it.'), failed: t('The SideCar server has failed. Click to start it again.'), starting: t('The SideCar server is starting.'), running: '' }[this.server.health]
      : vscode.workspace.isTrusted ? run ? t('SideCar: the mode {0} of "{1}". Click to change it.', mode, run.title) : t('SideCar: the mode {0}. Click to change it.', mode) : t('SideCar: this workspace is not trusted; only the tools that read may be used.');
    this.mode.command = run && !down ? 'sidecar.agentMode' : 'sidecar.pickMode';
    this.mode.backgroundColor = this.server.health === 'failed' ? new vscode.ThemeColor('statusBarItem.errorBackground') : undefined;
    const n = this.pending.list.edits.length, q = this.questions.open.length;
    this.count.text = [n > 0 ? `$(diff) ${n}` : '', q > 0 ? `$(question) ${q}` : ''].filter(Boolean).join('  ');
    this.count.tooltip = [n > 0 ? (n === 1 ? t('1 file with pending changes') : t('{0} files with pending changes', n)) : '', q > 0 ? (q === 1 ? t('1 question waits for you') : t('{0} questions wait for you', q)) : ''].filter(Boolean).join('\n');
    this.count.backgroundColor = q > 0 ? new vscode.ThemeColor('statusBarItem.warningBackground') : undefined;
    this.count.command = q > 0 ? 'sidecar.agents.focus' : 'sidecar.pending.focus';
    n + q > 0 ? this.count.show() : this.count.hide();
  }

  dispose(): void {
    vscode.Disposable.from(this.mode, this.count, this.index).dispose();
  }
}
