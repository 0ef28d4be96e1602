// The line under the text: what goes with a message, how the agent works, how full it is, and Send and Stop.
import type { Usage } from '../../event';
import { takesText, type Condition } from '../condition';
import { visible } from '../safe';
import { short, t } from '../words';
import type { App } from './app';
import { ctrl } from './el';
import { Icon } from './icons';

/** As told: a part of the whole where the agent has said what that is. */
export function usage(u: Usage | undefined): { text: string; title: string } | undefined {
  if (!u) { return undefined; }
  const money = (n: number) => { try { return n.toLocaleString([], { style: 'currency', currency: u.currency || 'USD' }); } catch { return `${n} ${u.currency ?? ''}`; } };
  const title = [u.used !== undefined ? (u.size ? t('{0} of {1} tokens', u.used.toLocaleString(), u.size.toLocaleString()) : t('{0} tokens', u.used.toLocaleString())) : '', u.cost ? money(u.cost) : ''].filter(Boolean).join(' · ');
  const part = u.used !== undefined && u.size ? Math.round(u.used / u.size * 100) : undefined;
  const text = part !== undefined ? (part > 0 ? t('{0} % full', part) : '') : u.used !== undefined ? (u.used >= 1000 ? t('{0} tokens', short(u.used)) : '') : u.cost ? money(u.cost) : '';
  return text ? { text, title } : undefined; // so little says nothing
}

/** Shortens the name of a mode or a model: "Default (recommended)" becomes "Default". */
export const brief = (name: string) => name.replace(/\s*\([^()]*\)\s*$/, '') || name;

export function Foot({ app, c, send }: { app: App; c: Condition; send(when: 'queue' | 'steer' | 'interrupt'): void }) {
  const v = app.view, run = app.run, full = usage(app.model?.usage ?? app.info?.usage), has = app.draft.trim() !== '' || app.chips.length > 0, takes = takesText(c);
  const pick = (what: 'sidecarMode' | 'agentMode' | 'model', name: string, title: string) => (
    <button type="button" class={`pick ${what}`} title={title} aria-label={`${title}: ${name}`} onClick={() => app.send({ type: 'pick', what, ...(run ? { run } : {}) })}><span>{visible(brief(name))}</span><Icon name="down" /></button>
  );
  const stop = (what: 'cancel' | 'close') => { if (run) { app.send({ type: 'control', run, what }); } };
  return (
    <div class="foot">
      <div class="foot-left">
        <button type="button" class="icon-only" aria-label={t('Add context')} title={t('Add context')} disabled={takes === 'no'} aria-haspopup="menu" onClick={e => app.openMenu(e.currentTarget, [
          { label: t('Files and Images…'), run: () => app.send({ type: 'attach', what: 'file' }) }, { label: t('Selection'), run: () => app.send({ type: 'attach', what: 'selection' }) }, { label: t('Problems'), run: () => app.send({ type: 'attach', what: 'diagnostics' }) },
          ...(run && v?.agentMode ? [{ label: t('Agent mode: {0}…', visible(v.agentMode)), run: () => app.send({ type: 'pick', what: 'agentMode', run }) }] : []), // the foot has no room for it in a narrow view
        ])}><Icon name="plus" /></button>
        {v?.mode && pick('sidecarMode', v.mode, t('SideCar mode'))}
        {run && v?.agentMode && pick('agentMode', v.agentMode, t('Agent mode'))}
        {run && v?.model && pick('model', v.model, t('Model'))}
      </div>
      <div class="foot-right">
        {full && <span class="usage dim" title={full.title} aria-label={t('Context used: {0}', full.title || full.text)}>{full.text}</span>}
        {app.working && has && (
          <span class="split">
            <button type="button" onClick={() => send('queue')}>{t('Queue')}</button>
            <button type="button" class="icon-button" aria-label={t('Other ways to send')} title={t('Other ways to send')} aria-haspopup="menu" onClick={e => app.openMenu(e.currentTarget, [
              { label: t('Queue'), hint: 'Enter', run: () => send('queue') }, { label: t('Steer'), hint: `${ctrl}+Enter`, run: () => send('steer') }, { label: t('Stop and Send'), hint: `${ctrl}+Shift+Enter`, run: () => send('interrupt') },
            ])}><Icon name="down" /></button>
          </span>
        )}
        {app.working ? (
          <span class="split">
            <button type="button" class="second" title={t('Stop (Esc)')} aria-label={t('Stop')} onClick={() => stop('cancel')}><Icon name="stop" look="solid" />{!has && t('Stop')}</button>
            <button type="button" class="second icon-button" aria-label={t('What to stop')} title={t('What to stop')} aria-haspopup="menu" onClick={e => app.openMenu(e.currentTarget, [
              { label: t('Stop This Reply'), hint: 'Esc', run: () => stop('cancel') }, { label: t('Stop and Close Run'), run: () => stop('close') }, { label: t('Stop All Runs'), run: () => app.send({ type: 'stopAll' }) },
            ])}><Icon name="down" /></button>
          </span>
        ) : <button type="button" disabled={!has || takes === 'no'} onClick={() => send('queue')}>{t('Send')}</button>}
      </div>
    </div>
  );
}
