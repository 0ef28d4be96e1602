// The line at the top: which run this is, and how it is.
import type { Condition } from '../condition';
import { readable } from '../safe';
import { span, t } from '../words';
import type { App } from './app';
import { ctrl } from './el';
import { Icon, Spinner, type IconName } from './icons';

export function words(app: App, c: Condition): { sign: IconName | 'spinner'; look: string; text: string } {
  const m = app.model;
  switch (c) {
    case 'down': return { sign: 'plug', look: 'bad', text: t('Server down') };
    case 'untrusted': return { sign: 'warning', look: 'needs', text: t('Not trusted') };
    case 'signIn': return { sign: 'key', look: 'needs', text: t('Sign in') };
    case 'failedStart': return { sign: 'cross', look: 'bad', text: t('Didn’t start') };
    case 'connecting': return { sign: 'spinner', look: '', text: t('Starting…') };
    case 'streaming': {
      const silent = m && m.last > 0 && app.now - m.last > 2000;
      const worked = m && m.workSince && app.now - m.workSince >= 1000 ? span(app.now - m.workSince) : '';
      return { sign: 'spinner', look: '', text: [silent && t('Working'), worked].filter(Boolean).join(' · ') };
    }
    case 'waiting': return { sign: 'question', look: 'needs', text: t('Needs you') };
    case 'limited': return { sign: 'clock', look: '', text: t('Waiting for model') };
    case 'failed': return { sign: 'cross', look: 'bad', text: t('Failed') };
    case 'stopped': return { sign: 'stop', look: 'dim', text: t('Stopped') };
    case 'interrupted': return { sign: 'lightning', look: 'needs', text: t('Interrupted') };
    case 'paused': return { sign: 'stop', look: 'dim', text: t('Paused') };
    case 'ended': return { sign: 'check', look: 'dim', text: t('Ended') };
    case 'readOnly': return { sign: 'circle', look: 'dim', text: t('Read only') };
    case 'idle': return { sign: 'dot', look: 'good', text: '' };
    default: return { sign: 'circle', look: 'dim', text: '' };
  }
}

export function Head({ app, c }: { app: App; c: Condition }) {
  const { sign, look, text } = words(app, c);
  const starting = app.view?.starting && app.view.agents.find(a => a.name === app.view!.starting!.agent);
  const agent = app.agentTitle || starting?.title || '', title = app.model?.title || app.info?.title || '';
  const detail = (['replies', 'steps', 'everything'] as const).map(d => ({ label: { replies: t('Replies'), steps: t('Steps'), everything: t('Everything') }[d], hint: d === app.detail ? '✓' : '', run: () => app.setDetail(d) }));
  return (
    <header class="head">
      <div class="head-line">
        <button type="button" class="head-run" title={t('Other runs')} aria-haspopup="menu" onClick={() => app.send({ type: 'pick', what: 'run', ...(app.run ? { run: app.run } : {}) })}>
          {sign === 'spinner' ? <Spinner /> : <Icon name={sign} look={`${look} ${sign === 'dot' ? 'solid' : ''}`} />}
          <span class="head-agent">{readable(agent) || t('SideCar')}</span>
          <Icon name="down" look="dim" />
        </button>
        {text && <span class={`head-state ${look}`}>{text}</span>}
        {app.run && <button type="button" class="icon-only" aria-label={t('Detail and search')} title={t('Detail and search')} aria-haspopup="menu"
          onClick={e => app.openMenu(e.currentTarget, [...detail, { label: t('Find'), hint: `${ctrl}+F`, run: () => app.onFind() }, { label: t('Open as Document'), run: () => app.send({ type: 'document', run: app.run!, what: 'conversation' }) },
            ...(app.agent?.can.includes('fork') ? [{ label: t('Fork Conversation'), run: () => app.send({ type: 'fork', run: app.run! }) }] : []),
            ...(app.agent?.kind === 'builtin' ? [{ label: t('Shorten Conversation'), run: () => app.send({ type: 'compact', run: app.run! }) }, { label: t('Set Budget…'), run: () => app.send({ type: 'budget', run: app.run! }) }] : [])])}><Icon name="list" /></button>}
      </div>
      {title && <div class="head-title">{readable(title.split('\n')[0]!.slice(0, 200))}</div>}
    </header>
  );
}
