// The ports that programs of sessions listen on. While there are some, the status bar offers to open them.
import * as vscode from 'vscode';
import { visible } from '../agent/page/safe';
import type { Server } from '../client';
import type { SessionPort } from '../protocol';

const t = vscode.l10n.t;

export class Ports implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem('sidecar.ports', vscode.StatusBarAlignment.Left, 8);
  private list: SessionPort[] = [];
  private readonly all: vscode.Disposable;

  constructor(server: Server, private readonly agent: (session: string) => string | undefined) {
    this.item.name = t('SideCar: ports of agents');
    this.item.command = 'sidecar.openPorts';
    server.notifications.set('sidecar/ports', ({ ports }: { ports: SessionPort[] }) => this.show(ports));
    this.all = vscode.Disposable.from(this.item, vscode.commands.registerCommand('sidecar.openPorts', () => openPort(server, this.list).catch((e: unknown) => void vscode.window.showWarningMessage(e instanceof Error ? e.message : String(e)))),
      server.onDidChange(health => { if (health !== 'running') { this.show([]); } }));
  }

  private show(ports: SessionPort[]): void {
    this.list = ports;
    const [first, ...others] = ports;
    if (!first) {
      this.item.hide();
      return;
    }
    const of = this.agent(first.session) ?? (first.session === 'default' ? first.program : first.session);
    this.item.text = `$(globe) ${others.length > 0 ? t('Open :{0} and {1} more', first.port, others.length) : of ? t('Open :{0} of {1}', first.port, plain(of)) : t('Open :{0}', first.port)}`;
    this.item.tooltip = ports.map(p => t('{0} of {1} listens on port {2}', visible(p.program) || t('A program'), visible(this.agent(p.session) ?? p.session), p.port)).join('\n');
    this.item.show();
  }

  dispose(): void { this.all.dispose(); }
}

/** A name that an agent chose, short, and without what a status bar takes for an icon. */
const plain = (name: string) => visible(name).replaceAll('$(', '$ (').slice(0, 40);

/** Shows a page that a program of a session serves; the server asks first. */
export async function openPort(server: Server, ports: SessionPort[]): Promise<void> {
  if (ports.length === 0) {
    void vscode.window.showInformationMessage(t('No program of this session listens on a port of its own localhost.'));
    return;
  }
  const items = ports.map(p => ({ label: String(p.port), description: p.program, detail: p.opened, p }));
  const chosen = items.length === 1 ? items[0] : await vscode.window.showQuickPick(items, { title: t('Open port of an agent') });
  if (!chosen) { return; }
  const url = chosen.p.opened ?? (await server.execute<{ url: string }>('sidecar.session.openPort', { session: chosen.p.session, port: chosen.p.port })).url;
  await vscode.env.openExternal(vscode.Uri.parse(url, true));
}
