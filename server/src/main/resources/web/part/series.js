// Columns of days, each in parts, with a scale.
import { html, nothing } from 'lit';
import { amount, credits, label } from '../draw/format.js';
import { place } from './place.js';

/** Parts that have a colour of their own; the others are one. */
const MOST = 5;

/** The next of 1, 2 and 5 with zeros that is not less. */
function roof(value) {
  const unit = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((each) => each * unit).find((each) => each >= value - 1e-12);
}

/**
 * @param {string[]} days
 * @param {{day: string, key: string, credits: number}[]} items
 */
export function series(days, items) {
  const sums = new Map();
  for (const each of items) sums.set(each.key, (sums.get(each.key) ?? 0) + each.credits);
  const keys = [...sums]
    .filter(([, sum]) => sum > 0)
    .sort((a, b) => b[1] - a[1])
    .map(([key]) => key);
  const named = keys.slice(0, MOST);
  const of = new Map(days.map((day) => [day, new Map()]));
  for (const each of items) {
    const key = named.includes(each.key) ? each.key : 'others';
    const parts = of.get(each.day);
    parts?.set(key, (parts.get(key) ?? 0) + each.credits);
  }
  const total = (day) => [...of.get(day).values()].reduce((sum, each) => sum + each, 0);
  const most = Math.max(0, ...days.map(total));
  if (!most) return html`<p class="pad soft">No charges.</p>`;
  const top = roof(most);
  const shown = keys.length > MOST ? [...named, 'others'] : named;
  return html`<figure class="series">
    <div class="series-scale num small soft" aria-hidden="true">
      <span>${amount(top)}</span><span>${amount(top / 2)}</span><span>0 credits</span>
    </div>
    <div
      class="series-days"
      role="img"
      aria-label="Credits per day, ${days[0]} to ${days[days.length - 1]}, at most ${credits(most)} a day"
    >
      ${days.map(
        (day) =>
          html`<span
            class="series-day"
            title="${day}: ${credits(total(day))}${[...of.get(day)].map(([key, each]) => `\n${label(key, 60)} ${credits(each)}`).join('')}"
            >${shown.map((key, i) => {
              const part = of.get(day).get(key);
              return part ? html`<i class="p${i}" ${place({ height: `${(part / top) * 100}%` })}></i>` : nothing;
            })}</span
          >`,
      )}
    </div>
    <div class="series-axis small soft num" aria-hidden="true">
      <span>${days[0]}</span><span>${days[days.length - 1]}</span>
    </div>
    <figcaption class="legend small">
      ${shown.map((key, i) => html`<span class="row"><i class="p${i}"></i>${label(key, 60)} <span class="soft num">${credits(sums.get(key) ?? keys.slice(MOST).reduce((sum, each) => sum + sums.get(each), 0))}</span></span>`)}
    </figcaption>
  </figure>`;
}
