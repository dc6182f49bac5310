// Greets the workbench, is told a token and what is chosen, and asks the engine for the text of the page itself.
const panel = document.querySelector('#panel');
const engine = new URL(import.meta.url).origin;
let known = {};
let text = null;

addEventListener('message', async ({ source, data }) => {
  if (source !== parent) return;
  const page = known.page;
  known = { ...known, ...data };
  // The look of the workbench, where it is not simply the system's.
  if (known.theme) document.documentElement.style.colorScheme = known.theme === 'auto' ? '' : known.theme;
  if (!known.token || !known.page) return;
  if (known.page !== page || text === null) text = await ask(`/api/segments/document/${known.page}/text`);
  show();
});
parent.postMessage({ armarium: 'ready' }, '*');

async function ask(path) {
  const headers = {
    Authorization: `Bearer ${known.token}`,
    'X-Service-Library-Path': encodeURIComponent(known.project),
  };
  const answer = await fetch(engine + path, { headers });
  return answer.json();
}

function wordsOf(span) {
  return text.text.slice(span.char_start, span.char_end).match(/\p{L}+/gu) ?? [];
}

function show() {
  panel.replaceChildren();
  if (!text.spans) {
    panel.textContent = text.detail;
    return;
  }
  const counts = new Map();
  const chosen = new Set();
  for (const span of text.spans) {
    for (const word of wordsOf(span)) {
      counts.set(word, (counts.get(word) ?? 0) + 1);
      if (span.segment_id === known.line) chosen.add(word);
    }
  }
  const list = document.createElement('ul');
  for (const [word, count] of [...counts].sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0]))) {
    const item = document.createElement('li');
    // Text, never markup: a page may say anything.
    item.textContent = `${word} ${count}`;
    item.classList.toggle('chosen', chosen.has(word));
    list.append(item);
  }
  panel.append(list);
}
