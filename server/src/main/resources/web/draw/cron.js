// What a schedule's expression says, in words. Pure. What it has no words for is null.

const MACROS = {
  '@hourly': '0 * * * *',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@weekly': '0 0 * * 0',
  '@monthly': '0 0 1 * *',
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
};
const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];
const two = (n) => String(n).padStart(2, '0');
const listed = (words) =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words[words.length - 1]}`;
const every = (n, noun) => (n === 1 ? `every ${noun}` : `every ${n} ${noun}s`);

/** Numbers and ranges of a field as [from, to]; null for anything else. @param {string[]} names of values, from `first` */
function parts(field, names = [], first = 0) {
  const number = (text) =>
    /^\d+$/.test(text)
      ? Number(text)
      : names.findIndex((each) => each.slice(0, 3).toLowerCase() === text.toLowerCase()) + first;
  const found = field.split(',').map((part) => part.split('-').map(number));
  return found.every((part) => part.length <= 2 && part.every((n) => n >= first))
    ? found.map(([from, to = from]) => [from, to])
    : null;
}

function times(minute, hour) {
  const step = /^\*\/(\d+)$/;
  const [everyMinute, everyHour] = [
    minute === '*' ? 1 : Number(step.exec(minute)?.[1] ?? 0),
    hour === '*' ? 1 : Number(step.exec(hour)?.[1] ?? 0),
  ];
  const minutes = parts(minute);
  const hours = parts(hour);
  if (everyMinute) {
    if (hour === '*') return every(everyMinute, 'minute');
    if (hours?.length === 1)
      return `${every(everyMinute, 'minute')} from ${two(hours[0][0])}:00 to ${two(hours[0][1])}:59`;
    return null;
  }
  if (!minutes?.every(([from, to]) => from === to)) return null;
  const at = minutes.map(([n]) => n);
  if (everyHour)
    return `${every(everyHour, 'hour')}${at.length === 1 && at[0] === 0 ? '' : ` at minute ${listed(at.map(String))}`}`;
  if (!hours) return null;
  if (hours.every(([from, to]) => from === to) && hours.length * at.length <= 6)
    return `at ${listed(hours.flatMap(([h]) => at.map((m) => `${two(h)}:${two(m)}`)))}`;
  return hours.length === 1 && at.length === 1
    ? `every hour from ${two(hours[0][0])}:${two(at[0])} to ${two(hours[0][1])}:${two(at[0])}`
    : null;
}

function days(day, month, weekday) {
  const named = (field, names, first) =>
    parts(field, names, first)?.map(([from, to]) => {
      const word = (n) => names[(n - first) % names.length];
      return from === to ? word(from) : `${word(from)} to ${word(to)}`;
    });
  if (day !== '*' && weekday !== '*') return null;
  const months = month === '*' ? [] : named(month, MONTHS, 1);
  const week = weekday === '*' ? [] : named(weekday, DAYS, 0);
  const of = day === '*' ? [] : parts(day)?.map(([from, to]) => (from === to ? String(from) : `${from} to ${to}`));
  if (!months || !week || !of) return null;
  const when = week.length
    ? `${week.some((each) => each.includes(' to ')) ? '' : 'on '}${listed(week)}`
    : of.length
      ? `on day ${listed(of)} of ${months.length ? listed(months) : 'each month'}`
      : 'every day';
  return months.length && !of.length ? `${when} in ${listed(months)}` : when;
}

/** As "every day at 02:30". */
export function cronWords(cron) {
  const fields = (MACROS[cron.trim()] ?? cron.trim()).split(/\s+/);
  if (fields.length !== 5) return null;
  const [time, date] = [times(fields[0], fields[1]), days(fields[2], fields[3], fields[4])];
  if (!time || !date) return null;
  return date === 'every day' && time.startsWith('every')
    ? time
    : time.startsWith('every')
      ? `${time} ${date}`
      : `${date} ${time}`;
}
