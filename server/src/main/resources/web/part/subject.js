// What a question of the inbox is about: values as people read them, checks of outputs, artifacts, facts.
import { html, nothing } from 'lit';
import { bytes, count, credits, label, many } from '../draw/format.js';
import { name } from './bits.js';
import { icon } from './icon.js';
import { json } from './json.js';
import { links } from './preview.js';

const MOST = 20_000;
const MOST_ITEMS = 200;
const simple = (value) => value === null || typeof value !== 'object';
const text = (value) => (typeof value === 'string' ? value : JSON.stringify(value));
const title = (key) => {
  const words = key.replaceAll('_', ' ');
  return words[0].toUpperCase() + words.slice(1);
};

/** Text with its lines, without an end of its own. */
const lines = (value, most = MOST) => html`<bdi class="prose">${label(value, most)}</bdi>`;

/** JSON in a text, as the beginnings of outputs are; the text where it is none. */
function parsed(value) {
  if (typeof value !== 'string' || !/^\s*["[{]/.test(value)) return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}

/** Text with its lines, a list as a list, a small object as its members, all else as JSON. */
export function shown(what, given) {
  const value = parsed(given);
  if (simple(value)) return lines(text(value));
  if (Array.isArray(value) && value.every(simple))
    return html`<ul class="bullets">
        ${value.slice(0, MOST_ITEMS).map((each) => html`<li>${lines(text(each), 2000)}</li>`)}
      </ul>
      ${value.length > MOST_ITEMS ? html`<p class="soft small">and ${many(value.length - MOST_ITEMS, 'more item')}</p>` : nothing}`;
  const members = Object.entries(value);
  if (
    !Array.isArray(value) &&
    members.length <= 20 &&
    members.every(([, each]) => simple(each) || (Array.isArray(each) && each.every(simple)))
  ) {
    return html`<dl class="facts wide-facts">
      ${members.map(
        ([key, each]) =>
          html`<dt>${label(key, 60)}</dt>
            <dd>${shown(key, each)}</dd>`,
      )}
    </dl>`;
  }
  return json(what, value, true);
}

/** How the attempts of the run before this one ended. */
export const earlier = (list) =>
  list?.length
    ? html`<div class="note">
        ${icon('info')}
        <div class="stack grow tight">
          ${list.map((each) => html`<span>Attempt ${each.attempt} of the run: ${name(each.message ?? each.error_code ?? 'it ended', 1000)}.</span>`)}
        </div>
      </div>`
    : nothing;

const VERDICTS = {
  passed: ['check', 'i-done', 'passed'],
  rejected: ['cross', 'i-failed', 'refused'],
  unsure: ['info', 'i-backoff', 'not sure'],
  task_wrong: ['cross', 'i-failed', 'no output can meet the task'],
};
const CHECKS = {
  'model.judge': 'Judge',
  'verify.json_schema': 'JSON Schema',
  'verify.jq': 'Expression',
  'verify.regex': 'Pattern',
  'verify.sections': 'Sections',
  'verify.length': 'Length',
  'verify.keywords': 'Keywords',
  'verify.urls': 'URLs',
};
const digits = (score) => Number(Number(score).toFixed(2));

function check(each) {
  const [symbol, colour, word] = VERDICTS[each.verdict] ?? ['info', 'soft', each.verdict ?? 'no verdict'];
  const marks = Array.isArray(each.marks) ? each.marks.filter((mark) => mark?.criterion).slice(0, 50) : [];
  const said = marks.length ? each.feedback?.split('\n- ')[0] : each.feedback; // then the marks say the rest
  return html`<li class="stack">
    <span class="row wrap"
      ><span class="row ${colour}"
        >${icon(symbol, 'small')}<strong>${CHECKS[each.check] ?? name(each.check, 80)}: ${word}</strong></span
      >${each.score === null || each.score === undefined ? nothing : html`<span class="soft small num">score ${digits(each.score)}</span>`}${each.model ? html`<span class="soft small">by ${name(each.model, 60)}</span>` : nothing}</span
    >
    ${said ? html`<span class="small">${lines(said, 2000)}</span>` : nothing}
    ${
      marks.length
        ? html`<dl class="marks small">
            ${marks.map(
              (mark) =>
                html`<dt class="num ${mark.mark >= 4 ? 'i-done' : 'i-failed'}">${mark.mark ?? '–'} of 5</dt>
                  <dd>
                    ${name(mark.criterion, 400)}${mark.must_pass ? html` <span class="soft">must pass</span>` : nothing}${mark.evidence ? html`<q class="soft">${label(mark.evidence, 400)}</q>` : nothing}
                  </dd>`,
            )}
          </dl>`
        : nothing
    }
    ${
      each.output
        ? html`<details class="json">
            <summary>The output that ${each.verdict === 'rejected' ? 'was refused' : 'it judged'}</summary>
            <div class="value">${shown('Output', each.output)}</div>
          </details>`
        : nothing
    }
  </li>`;
}

/** The checks of an output by the attempts of its task, the last one first. */
export function checks(list) {
  const attempts = [...Map.groupBy(list ?? [], (each) => each.attempt)].sort(([a], [b]) => b - a);
  return attempts.map(
    ([attempt, each], i) =>
      html`${attempts.length > 1 ? html`<h3 class="small soft">${i ? `Attempt ${attempt}, before` : `Attempt ${attempt}, this output`}</h3>` : nothing}
        <ul class="checks-made">
          ${each.map(check)}
        </ul>`,
  );
}

/** Each task of a result with its criteria and checks. */
function verified(tasks, run) {
  if (!tasks?.length)
    return html`<section class="stack">
      <h3>How it was checked</h3>
      <p class="soft">No task of this run has criteria or checks.</p>
    </section>`;
  return html`<section class="stack">
    <h3>How it was checked</h3>
    ${tasks.map(
      (task) =>
        html`<div class="verified stack">
          <span class="row wrap"
            ><a href="/ui/runs/${run}?task=${encodeURIComponent(task.task)}"
              ><strong>${name(task.title || task.task, 160)}</strong></a
            >${task.attempt > 1 ? html`<span class="soft small">done in ${task.attempt} attempts</span>` : nothing}${task.verified_by === 'human' ? html`<span class="soft small">accepted by a person</span>` : nothing}</span
          >
          ${task.success_criteria ? html`<span class="small soft">Done when: ${lines(task.success_criteria, 2000)}</span>` : nothing}${task.checks?.length ? checks(task.checks) : html`<span class="small soft">No check has judged it.</span>`}
        </div>`,
    )}
  </section>`;
}

/** @param files rows of the API; null while they are read */
function artifacts(names, files, run) {
  if (!names?.length) return nothing;
  return html`<section class="stack">
    <h3>Artifacts</h3>
    <ul class="files">
      ${
        files
          ? files.map(
              (file) =>
                html`<li class="row wrap">
                  ${icon('file', 'small')}<span class="grow"
                    >${name(file.name, 200)} <span class="soft small">${bytes(file.size_bytes)}</span></span
                  ><span class="row">${links(run, file)}</span>
                </li>`,
            )
          : names.map((each) => html`<li class="row">${icon('file', 'small')}${name(each, 200)}</li>`)
      }
    </ul>
  </section>`;
}

/** The result of a run: its output or that of its last tasks, how it was checked, and its artifacts. */
export function result(item, files) {
  const {
    output,
    summary,
    results,
    tasks_completed: done,
    tasks_failed: failed,
    total_cost: cost,
    total_tokens: tokens,
  } = item.data;
  const several = results?.length > 1;
  const whole = (each) =>
    each.output_ref
      ? html`<a class="small" href="/ui/runs/${item.run_id}?task=${encodeURIComponent(each.task)}"
          >The beginning of it; open the task</a
        >`
      : nothing;
  return html`<section class="stack">
      <h3>The result</h3>
      ${
        output !== null && output !== undefined
          ? html`<div class="value">${shown('Output', output)}</div>`
          : results?.length
            ? results.map(
                (each) =>
                  html`${several ? html`<strong class="small">${name(each.title || each.task, 160)}</strong>` : nothing}
                    <div class="value">
                      ${each.state !== 'completed' ? html`<span class="soft">${each.state}</span>` : each.output && each.output !== 'null' ? shown('Output', each.output) : html`<span class="soft">Its last task has no output.</span>`}
                    </div>
                    ${whole(each)}`,
              )
            : html`<div class="value">
                ${summary ? lines(summary) : html`<span class="soft">It has no output.</span>`}
              </div>`
      }
      <div class="row wrap small">
        <span class="soft num"
          >${many(done, 'task')} done${failed ? `, ${count(failed)} failed` : ''} · ${credits(cost)} ·
          ${many(tokens, 'token')}</span
        ><a href="/ui/runs/${item.run_id}">Open the run</a>
      </div>
    </section>
    ${verified(item.data.verified, item.run_id)}${artifacts(item.data.artifacts, files, item.run_id)}`;
}

/** What failed before a new plan was made, and what that plan is. */
export function newPlan({ failed = [], reason, plan, task_count: tasks, changes }) {
  const counted = (list, word) => (list.length ? [`${count(list.length)} ${word}`] : []);
  const parts = [
    ...counted(changes.added, 'new'),
    ...counted(changes.replaced, 'done again'),
    ...counted(changes.dropped, 'dropped'),
    ...counted(changes.kept, 'completed and kept'),
  ];
  return html`<section class="stack">
      <h3>What happened</h3>
      ${
        failed.length
          ? html`<ul class="bullets">
              ${failed.map((task) => html`<li>Task <strong>${name(task.title || task.task, 160)}</strong> failed: ${name(task.message ?? 'without a message', 600)} <code class="small soft">${task.error_code}</code></li>`)}
            </ul>`
          : html`<p>${name(reason ?? 'A new plan was asked for.', 600)}</p>`
      }
    </section>
    <section class="stack">
      <h3>What is proposed</h3>
      <p>A plan of ${many(tasks, 'task')} in place of what is not completed. Tasks: ${parts.join(', ') || 'none'}.</p>
      ${plan?.reasoning ? html`<p class="soft">${lines(plan.reasoning, 2000)}</p>` : nothing}
    </section>`;
}

const SPENT = new Set(['total_cost', 'total_tokens']);
const AMOUNTS = new Set(['total_cost', 'charged', 'hard_limit_usd', 'estimated_cost']);
const TITLES = {
  total_cost: 'Cost so far',
  total_tokens: 'Tokens so far',
  tasks_completed: 'Tasks done',
  tasks_open: 'Tasks open',
  next: 'Next tasks',
  success_criteria: 'Done when',
  error_class: 'Kind of error',
  hard_limit_usd: 'Limit',
  input_sha256: 'SHA-256 of the input',
};
const measured = (key, value) => (AMOUNTS.has(key) ? credits(value) : key === 'total_tokens' ? count(value) : null);

/** Members that come before the others. */
const FIRST = ['charged', 'hard_limit_usd', 'total_cost', 'total_tokens', 'tasks_completed', 'tasks_open', 'next'];
const place = (key) => (FIRST.includes(key) ? FIRST.indexOf(key) : FIRST.length);

/** The other members of an item's data: facts, and values that are lists or objects. @param open titles of values that are not folded */
export function facts(data, open) {
  const members = Object.entries(data)
    .filter(
      ([key, value]) =>
        value !== null &&
        value !== undefined &&
        value !== '' &&
        !(value === 0 && SPENT.has(key)) &&
        (simple(value) || Object.keys(value).length),
    )
    .sort(([a], [b]) => place(a) - place(b));
  const short = members.filter(([, value]) => simple(value) || (Array.isArray(value) && value.every(simple)));
  return html`${
    short.length
      ? html`<dl class="facts wide-facts">
          ${short.map(
            ([key, value]) =>
              html`<dt>${TITLES[key] ?? title(key)}</dt>
                <dd>${measured(key, value) ?? shown(key, value)}</dd>`,
          )}
        </dl>`
      : nothing
  }
  ${members.filter((each) => !short.includes(each)).map(([key, value]) => json(TITLES[key] ?? title(key), value, open.includes(key)))}`;
}

/** Data of any form. @param question that is above them */
export function given(data, question) {
  if (data === null || data === undefined) return nothing;
  if (simple(data) || Array.isArray(data)) return html`<div class="value">${shown('Data', data)}</div>`;
  return facts(
    Object.fromEntries(Object.entries(data).filter(([key, value]) => key !== 'question' || value !== question)),
    ['questions', 'schema'],
  );
}
