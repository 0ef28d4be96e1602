import type { PlanEntry } from '../../event';
import { readable } from '../safe';
import { t } from '../words';
import { Icon, Spinner } from './icons';

const sign = (status: string | undefined) => status === 'completed' ? <Icon name="check" look="good" /> : status === 'in_progress' ? <Spinner /> : status === 'failed' ? <Icon name="cross" look="bad" /> : <Icon name="circle" look="dim" />;
const named = (status: string | undefined) => status === 'completed' ? t('done') : status === 'in_progress' ? t('in progress') : status === 'failed' ? t('failed') : t('to do');

export function PlanList({ plan, changed }: { plan: readonly PlanEntry[]; changed?: ReadonlySet<number> }) {
  return (
    <ul class="plan">
      {plan.slice(0, 200).map((p, i) => (
        <li key={i} class={`${p.status === 'completed' ? 'over' : ''} ${changed?.has(i) ? 'changed' : ''}`}>
          {sign(p.status)}<span class="sr-only">{named(p.status)}: </span><span>{readable(p.text)}</span>
        </li>
      ))}
    </ul>
  );
}
