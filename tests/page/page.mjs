// The page in a headless Chromium; TAP on standard output.
//
//   BUILD=build AXE=axe.min.js node tests/page/page.mjs [URL]
//
// URL is the page of a real drey. STATES="NAME..." are some of the states (worlds.mjs). With SHOTS=DIR the pictures of all states are written there, to be looked at.

import { execFileSync } from 'node:child_process';
import { createServer } from 'node:http';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { Browser } from './browser.mjs';
import { details } from './details.mjs';
import { all, causes, hostile, phases } from './worlds.mjs';

const [, , real] = process.argv;
const program = `${process.env.BUILD ?? 'build'}/tests/page/page_render`;
const axe = readFileSync(process.env.AXE, 'utf8');
const shots = process.env.SHOTS;
const policy = execFileSync(program, ['--policy'], { encoding: 'utf8' }).trim();
let count = 0, failed = 0;

function check(ok, what, why = '') {
	count++;
	if (!ok) failed++;
	console.log(`${ok ? 'ok' : 'not ok'} ${count} - ${what}`);
	if (!ok && why) console.log(String(typeof why === 'string' ? why : JSON.stringify(why, null, 1)).replace(/^/gm, '# '));
}

// The page of a state, and the status that its script reads; null: drey starts.
const pages = new Map();
function put(name, status) {
	const run = (mode, input) => execFileSync(program, [mode, 'orders-jobmanager-7d9-kq'], { input: JSON.stringify(input) });
	pages.set(name, { html: run('--pod', status), code: status ? 200 : 503, status: status ? run('--status', status) : '{"error": "drey is still starting"}' });
}
for (const [name, status] of Object.entries(all)) put(name, status);

// The page of the state that is served at /; others at /NAME/. The status is beside the page.
let now = 'Holding';
let answers = true;
let asked = 0;
const server = createServer((request, answer) => {
	const [, name, file] = /^\/(?:([^/]+)\/)?([^/]*)$/.exec(request.url) ?? [];
	const state = pages.get(decodeURIComponent(name ?? now));
	asked++;
	if (!answers) {
		answer.destroy();
		return;
	}
	const code = !state || (file && file !== 'status') ? 404 : file ? state.code : 200;
	answer.writeHead(code, { 'Content-Type': file ? 'application/json' : 'text/html; charset=utf-8', 'Content-Security-Policy': policy, 'Cache-Control': 'no-store', Connection: 'close' });
	answer.end(code === 404 ? '' : file ? state.status : state.html);
});
await new Promise((resolve) => { server.listen(0, '127.0.0.1', resolve); });
const origin = `http://127.0.0.1:${server.address().port}`;
const browser = new Browser(process.env.CHROMIUM ?? 'chromium-headless-shell');
const timeout = setTimeout(() => { console.log('Bail out! it hangs'); browser.close(); process.exit(1); }, 280000);
if (shots) mkdirSync(shots, { recursive: true });

const violations = `(async () => { const all = await axe.run(document, { resultTypes: ['violations'] });
	return all.violations.map((v) => v.id + ': ' + v.nodes.slice(0, 3).map((n) => n.target.join(' ') + ' ' + (n.any[0]?.message ?? '')).join('; ')); })()`;

// axe runs outside of the page's policy, as the protocol's own script.
async function accessible(page) {
	await page.run(axe);
	return page.run(violations);
}

// Until the script has shown the status.
async function open(page, url) {
	await page.open(url);
	await page.until("document.getElementById('refresh').textContent.startsWith('Refreshed')");
}

// ---- every state, light, dark, and on a phone

const widths = { light: {}, dark: { dark: true }, phone: { width: 390, height: 800 } };
for (const name of process.env.STATES?.split(' ') ?? Object.keys(all)) {
	const wrong = [];
	await Promise.all(Object.entries(widths).map(async ([kind, options]) => {
		const page = await browser.page(options);
		await open(page, `${origin}/${name}/`);
		if (shots) writeFileSync(`${shots}/${name}-${kind}.png`, await page.screenshot());
		// what is folded is looked at, too
		await page.run("document.querySelectorAll('details').forEach((d) => { d.open = true; })");
		if (kind !== 'phone') wrong.push(...(await accessible(page)).map((text) => `${kind}: ${text}`));
		const inner = options.width ?? 1120;
		const { scroll, hacked, foreign } = await page.run(`({ scroll: document.scrollingElement.scrollWidth, hacked: window.hacked,
			foreign: document.querySelectorAll('script').length !== 4 || document.querySelectorAll('img, iframe, object, form, input').length > 0 })`);
		if (scroll > inner) wrong.push(`${kind}: ${scroll} pixels are wider than ${inner}`);
		if (hacked || foreign) wrong.push(`${kind}: something of the data is an element`);
		// a drey that starts has no status yet
		wrong.push(...page.problems.filter((text) => !(name === 'Starting' && / 503 .*\/status$/.test(text))).map((text) => `${kind}: ${text}`));
		wrong.push(...page.requests.filter((url) => !url.startsWith(origin) && !url.startsWith('data:')).map((url) => `${kind}: asks ${url}`));
		await page.close();
	}));
	check(!wrong.length, `${name}: seen by everybody, no error, no other origin, no wider than the screen`, wrong);
}
check(Object.keys(phases).length === 15 && Object.keys(causes).length >= 10 && Object.keys(hostile).length === 3, 'these were all phases, and all classes of causes');

// ---- what somebody sees whose job does not start

{
	const page = await browser.page();
	await open(page, `${origin}/Holding/`);
	const seen = await page.run(`({ title: document.title, phase: document.querySelector('.phase').textContent, cause: document.querySelector('#why h2').textContent,
		bottom: document.querySelector('#why').getBoundingClientRect().bottom, ways: document.querySelectorAll('.ways li').length, facts: document.querySelector('.facts').textContent,
		command: document.querySelector('.cmd code').textContent, loses: document.querySelectorAll('.loses')[1].textContent,
		rows: document.querySelectorAll('.lineage .n').length, abandoned: document.querySelectorAll('.lineage .abandoned').length, killed: document.querySelectorAll('.lineage .killed').length })`);
	check(seen.title === 'Holding - orders - drey' && seen.phase === 'Holding' && seen.cause === 'NewestStateMissing', 'why', seen);
	check(seen.facts.includes('since 03:12:16 (13 min)') && seen.facts.includes('looks again in 12 s'), 'since when, and what drey does', seen);
	check(seen.ways === 2 && seen.loses.startsWith('loses 1 min 59 s: '), 'what each way out loses', seen);
	check(seen.command === 'kubectl exec -n shop orders-jobmanager-7d9-kq -- drey resume --from s3://flink/orders/savepoints/savepoint-4f0c05-77aa', 'what to paste', seen);
	check(seen.bottom < 700, 'without scrolling', seen);
	check(seen.rows === 5 && seen.abandoned === 1 && seen.killed === 4, 'where it came from', seen);
	await page.close();
}

// ---- keyboard, clipboard

{
	const page = await browser.page();
	await open(page, `${origin}/Holding/`);
	const order = [];
	for (let i = 0; i < 14; i++) {
		await page.key('Tab', 'Tab', 9);
		order.push(await page.run("(document.activeElement.className || document.activeElement.id || document.activeElement.nodeName).toString()"));
	}
	check(order[0] === 'skip' && order.includes('copy') && order.includes('scroll') && order.includes('SUMMARY'), 'all of it is reached with the keyboard', order);
	await page.run("document.querySelector('#launches summary').focus()");
	await page.key('Enter', 'Enter', 13);
	check(await page.run("document.querySelector('#launches').open"), 'and opened');
	await browser.send('Browser.grantPermissions', { permissions: ['clipboardReadWrite', 'clipboardSanitizedWrite'], origin, browserContextId: page.browserContextId });
	await page.run("document.querySelector('.copy').focus()");
	await page.key('Enter', 'Enter', 13);
	await page.until("document.querySelector('.copy').textContent !== 'Copy'");
	const [label, text] = await page.run("(async () => [document.querySelector('.copy').textContent, await navigator.clipboard.readText()])()");
	check(label === 'Copied' && text.includes('drey resume --from'), 'a command is copied', [label, text]);
	await page.close();
}

// ---- hostile texts, also where the policy alone would have to help

{
	const page = await browser.page();
	await open(page, `${origin}/Markup/`);
	await page.run("document.body.insertAdjacentHTML('beforeend', '<img src=\"data:,\" onerror=\"window.hacked = 1\"><a id=evil href=\"javascript:window.hacked = 1\">x</a>'); document.getElementById('evil').click()");
	await page.run('new Promise((resolve) => { setTimeout(resolve, 300); })');
	check(await page.run('window.hacked === undefined'), 'the policy runs no script that is not the page\'s own');
	check(await page.run("document.querySelector('h1').textContent.includes('<script>') && document.querySelector('h1').textContent.includes('\\\\x1b[31m')"), 'names are text, terminal escapes are shown');
	await open(page, `${origin}/RightToLeft/`);
	check(await page.run("document.querySelector('.reason').textContent.includes('\\\\u{202e}') && !document.body.textContent.includes('\\u202e')"), 'right-to-left text is text, what turns other text is shown');
	await open(page, `${origin}/Long/`);
	check(await page.run("document.querySelector('.reason').textContent.length < 2000 && document.querySelector('h1').textContent.length < 200"), 'long texts are cut');
	await page.close();
}

// ---- without JavaScript

{
	const page = await browser.page({ script: false });
	const wrong = [];
	for (const name of Object.keys(all)) {
		await page.open(`${origin}/${name}/`);
		const { root } = await page.send('DOM.getDocument', { depth: 0 });
		const html = (await page.send('DOM.getOuterHTML', { nodeId: root.nodeId })).outerHTML;
		if (!html.includes('Reload the page for news') || html.includes('class="js"') || html.includes('class="cmd"') !== pages.get(name).html.includes('class="cmd"')) wrong.push(name);
		if (name === 'Holding' && !['drey resume --from', 'NewestStateMissing', 'Newest state', 'chk-249', '13 min'].every((text) => html.includes(text))) wrong.push(`${name}: incomplete`);
	}
	check(!wrong.length && !page.problems.length, 'without JavaScript the summary is enough to act on', [...wrong, ...page.problems]);
	await page.close();
}

// ---- the summary until the status is there

{
	const page = await browser.page();
	pages.set('NoStatus', { ...pages.get('Holding'), code: 502 });
	await page.open(`${origin}/NoStatus/`);
	await page.until("document.getElementById('refresh').textContent.includes('cannot be read')");
	const wrong = await accessible(page);
	const seen = await page.run("({ phase: document.querySelector('.phase').textContent, cause: document.querySelector('#why h2').textContent, command: document.querySelector('.cmd code').textContent, state: document.querySelector('#state').textContent })");
	check(!wrong.length && seen.phase === 'Holding' && seen.cause === 'NewestStateMissing' && seen.command.includes('drey resume --from s3:') && seen.state.includes('chk-249'),
		'a status that does not come leaves the summary', [...wrong, seen]);
	await page.close();
}

// ---- what each part of the status looks like

await details({ browser, check, put, open: (page, name) => open(page, `${origin}/${name}/`) });

// ---- news without flicker

{
	const page = await browser.page();
	now = 'Holding';
	await open(page, `${origin}/`);
	await page.run(`document.querySelector('#launches').open = true; document.querySelector('#launches-list').focus({ preventScroll: true }); scrollTo(0, 300);
		window.kept = [document.querySelector('h1'), document.querySelector('#lineage svg'), document.querySelector('#launches table'), document.querySelector('.phase')];
		window.changes = 0; new MutationObserver((list) => { window.changes += list.length; }).observe(document.getElementById('drey'), { subtree: true, childList: true, characterData: true, attributes: true });`);
	const before = asked;
	await page.until('document.title.startsWith("Holding")');
	while (asked < before + 2) await page.run('new Promise((resolve) => { setTimeout(resolve, 200); })');
	check(await page.run('window.changes === 0'), 'a refresh that brings nothing new touches nothing', await page.run('window.changes'));
	now = 'Running';
	await page.until('document.title.startsWith("Running")');
	const after = await page.run(`({ kept: window.kept.every((node) => node.isConnected), phase: window.kept[3].textContent, open: document.querySelector('#launches').open,
		focus: document.activeElement.id, scroll: scrollY, tone: document.getElementById('drey').className, decision: Boolean(document.getElementById('decision')),
		rows: document.querySelectorAll('.lineage .n').length, icon: document.querySelector('link[rel=icon]').href.includes('2e8b57') })`);
	check(after.kept && after.phase === 'Running' && after.tone === 'good' && after.rows === 6 && after.icon, 'another phase is shown in the same elements', after);
	check(after.open && after.focus === 'launches-list' && after.scroll > 200 && !after.decision, 'what was open stays open; focus and scroll position stay', after);
	answers = false;
	await page.until("document.documentElement.classList.contains('stale')");
	check(await page.run("document.getElementById('refresh').textContent.includes('does not answer')"), 'a drey that is gone is said');
	answers = true;
	now = 'Starting';
	await page.until("!document.documentElement.classList.contains('stale') && document.title.startsWith('Starting')");
	check(!page.problems.filter((text) => !text.includes('net::') && !/ 503 .*\/status$/.test(text)).length, 'and one that is back, too', page.problems);
	await page.run("Object.defineProperty(document, 'hidden', { value: true, configurable: true }); document.dispatchEvent(new Event('visibilitychange'))");
	const quiet = asked;
	await page.run('new Promise((resolve) => { setTimeout(resolve, 7000); })');
	check(asked === quiet, 'a page that nobody looks at asks for nothing', asked - quiet);
	now = 'Holding';
	await page.run("Object.defineProperty(document, 'hidden', { value: false, configurable: true }); document.dispatchEvent(new Event('visibilitychange'))");
	await page.until('document.title.startsWith("Holding")', 3000);
	check(true, 'and is fresh at once when it is seen again');
	await page.close();
}

// ---- a real drey

if (real) {
	const page = await browser.page();
	await open(page, real);
	await page.until("document.querySelector('.phase').textContent === 'Launching'", 20000);
	const wrong = await accessible(page);
	if (shots) writeFileSync(`${shots}/real.png`, await page.screenshot());
	check(!wrong.length && !page.problems.length && (await page.run("document.querySelectorAll('.lineage .n').length")) === 1, 'the page of a real drey', [...wrong, ...page.problems]);
	const launches = await page.run("fetch(document.querySelector('nav a').href).then((answer) => answer.json()).then((status) => status.launches.length)");
	check(launches === 1, 'leads to its status', launches);
	await page.close();
}

clearTimeout(timeout);
browser.close();
server.close();
console.log(`1..${count}`);
process.exit(failed ? 1 : 0);
