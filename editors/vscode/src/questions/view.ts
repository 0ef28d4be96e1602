// The view "Questions", which is there while there are some.
import * as vscode from 'vscode';
import { asker, dialogText, grave, scopes } from './text';
import type { Question, Questions } from './questions';

export class QuestionTree implements vscode.TreeDataProvider<Question>, vscode.Disposable {
  readonly onDidChangeTreeData: vscode.Event<void>;
  private readonly view: vscode.TreeView<Question>;

  constructor(private readonly questions: Questions) {
    this.onDidChangeTreeData = questions.onDidChange;
    this.view = vscode.window.createTreeView('sidecar.questions', { treeDataProvider: this });
    questions.onDidChange(() => {
      const n = questions.open.length;
      this.view.badge = n > 0 ? { value: n, tooltip: n === 1 ? vscode.l10n.t('1 question waits for you') : vscode.l10n.t('{0} questions wait for you', n) } : undefined;
    });
  }

  getChildren(node?: Question): Question[] { return node ? [] : this.questions.open; }

  getTreeItem(q: Question): vscode.TreeItem {
    const label = q.kind === 'approve' ? q.params.title : q.params.question;
    const item = new vscode.TreeItem(label);
    item.id = q.id;
    item.contextValue = q.kind === 'approve' ? ['approve', ...scopes(q.params)].join(' ') : 'ask';
    if (q.kind === 'approve') {
      item.description = `${asker(q.params)} › ${q.params.tool}`;
      item.iconPath = grave(q.params) ? new vscode.ThemeIcon('warning', new vscode.ThemeColor('list.warningForeground')) : new vscode.ThemeIcon('question');
      item.tooltip = new vscode.MarkdownString().appendCodeblock(dialogText(q.params, vscode.l10n.t, 60), q.params.diff ? 'diff' : 'text');
    } else {
      item.iconPath = new vscode.ThemeIcon('comment-discussion');
    }
    item.command = { command: 'sidecar.showQuestion', title: vscode.l10n.t('Show'), arguments: [q] };
    item.accessibilityInformation = { label: `${label}, ${String(item.description ?? '')}` };
    return item;
  }

  dispose(): void { this.view.dispose(); }
}
