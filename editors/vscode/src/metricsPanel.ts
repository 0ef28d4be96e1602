import * as vscode from 'vscode';
import type { Activity } from './activity/view';
import type { Server } from './client';
import { metricsHtml } from './metrics';
import { page } from './page';
import type { Metric } from './protocol';

/** Opens the metrics page, which follows the calls while it is looked at. */
export function registerMetrics(server: Server, activity: Activity): vscode.Disposable {
  let panel: vscode.WebviewPanel | undefined;
  let timer: NodeJS.Timeout | undefined;
  const show = async () => {
    const { tools } = await server.execute<{ tools: Record<string, Metric> }>('sidecar.tools.metrics');
    if (panel) {
      panel.webview.html = page(metricsHtml(tools, vscode.l10n.t), '');
    }
  };
  return vscode.Disposable.from(
    vscode.commands.registerCommand('sidecar.showMetrics', async () => {
      if (!panel) {
        panel = vscode.window.createWebviewPanel('sidecar.metrics', vscode.l10n.t('SideCar Metrics'), vscode.ViewColumn.Active, { localResourceRoots: [], enableScripts: false });
        panel.onDidDispose(() => { panel = undefined; });
      }
      panel.reveal();
      await show();
    }),
    activity.onDidComplete(() => {
      if (panel?.visible) {
        timer ??= setTimeout(() => { timer = undefined; void show().catch(() => undefined); }, 500);
      }
    }));
}
