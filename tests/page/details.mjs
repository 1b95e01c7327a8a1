// What each part of the status document looks like, and that any document gives a page: the checks of the script that
// look at one thing. Whole states are in page.mjs.

import { decision, document, history, NOW } from './worlds.mjs';

const MIN = 60000;
const TONES = {
	good: ['Running', 'Finished'], bad: ['Holding', 'Failed'], parked: ['Suspended', 'Cancelled'], aside: ['Standby', 'Prepared', 'HandedOver', 'Shadow'],
	busy: ['Resolving', 'Launching', 'Stopping', 'Terminating', 'Hold', ' '],
};

// Members that are missing, null, or of another type.
const ODD = [
	{ phase: 'x' },
	{ phase: 'Holding', launches: [1, {}, null], snapshots: [[], { launch: 1 }], transitions: [{}, 'x'], conditions: 7, decision: { candidates: { a: 1 }, sources: [0] },
		tasks: {}, slots: {}, handover: 1, role: 'owner', waiting: [1], lastError: '' },
	{ phase: 'Running', role: 'owner', handover: { transition: 5 }, conditions: [null, { type: 'Ready' }], job: [], stateLoss: 7, operation: 'x' },
	{ phase: 'Running', role: 'owner', handover: { transition: { state: 1, above: 9e18, below: 9e18, behindMs: 'x', cutUnixMs: 9e18 } } },
	{ phase: 'Running', launches: [{ number: 1, startedUnixMs: 9e18, endedUnixMs: -9e18, lastCheckpoint: { id: 1, completedUnixMs: 9e18 } },
		{ number: 1, startedUnixMs: 5, restoredFromLaunch: 1, restorePoint: { completedUnixMs: -9e18 } }], nextSavepointInMs: 9e18, retryInMs: -1, attempts: { windowMs: -9e18 } },
];

// A document in which each text is this one.
function poisoned(value, text) {
	if (typeof value === 'string') return text;
	if (Array.isArray(value)) return value.map((each) => poisoned(each, text));
	if (value && typeof value === 'object') return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, poisoned(each, text)]));
	return value;
}

const EVIL = [
	'</script></title><script>hacked = 1</script><img src=x onerror=hacked=1>', '" onclick="hacked=1', "javascript:hacked=1", '`<b>`[x](javascript:hacked=1)*<i>*',
	'\u001b[2J\u001b]0;x\u0007', '\u0085\u009b31m', '\u202egpj\u2066', '\u200b\ufeff\u2028\u2029', '\u{e0041}\u{f0001}', '__proto__', 'constructor',
];

async function facts(page) {
	return page.run("Object.fromEntries(Array.from(document.querySelectorAll('dl div'), (each) => [each.querySelector('dt').textContent, each.querySelector('dd').textContent]))");
}

async function looks({ check, put, open }, page) {
	const wrong = [];
	for (const [tone, phases] of Object.entries(TONES))
		for (const phase of phases) {
			put('Tone', { phase, nowUnixMs: NOW });
			await open(page, 'Tone');
			const seen = await page.run("[document.getElementById('drey').className, document.querySelector('.phase').textContent]");
			if (seen[0] !== tone || seen[1] !== phase) wrong.push([phase, ...seen]);
		}
	put('Tone', { phase: 'Running', nowUnixMs: NOW, conditions: [{ type: 'Ready', status: 'False', lastTransitionTime: new Date(NOW - 54000).toISOString() }],
		transitions: [{ unixMs: NOW - 9e8, text: 'Running: x' }] });
	await open(page, 'Tone');
	const unready = await page.run("[document.getElementById('drey').className, document.querySelector('.phase').textContent, document.querySelector('.facts').textContent]");
	check(!wrong.length, 'every phase has its colour', wrong);
	check(unready[0] === 'warn' && unready[1] === 'Running, not ready' && unready[2] === 'since 03:25:20 (54 s)', 'a job that is not ready is not green, since that began', unready);
}

async function ways({ check, put, open }, page) {
	put('Ways', document('Finished', 'Finished', 'the job has finished'));
	await open(page, 'Ways');
	const finished = await page.run("Array.from(document.querySelectorAll('.loses'), (each) => [each.className, each.textContent])");
	check(finished.some(([kind, text]) => kind === 'loses' && text.startsWith('loses nothing, but')), 'what loses little is not green', finished);
	put('Ways', document('Failed', 'AttemptsUsedUp', 'x'));
	await open(page, 'Ways');
	const failed = await page.run("({ loses: Array.from(document.querySelectorAll('.loses.none'), (each) => each.textContent), page: document.querySelector('.means a:last-child').getAttribute('href'), code: document.querySelector('.ways p').innerHTML })");
	check(failed.loses.some((text) => text.startsWith('loses nothing: ')) && failed.page === 'runbook/AttemptsUsedUp', 'what loses nothing is; the cause leads to its page', failed);
	put('Ways', document('Holding', 'NoUsableState', 'x'));
	await open(page, 'Ways');
	check(await page.run("document.querySelector('#why > .note').textContent === 'PATH is one of the snapshots.' && document.querySelector('#why > .note a').getAttribute('href') === '#snapshots-list'"),
		'where no snapshot is proposed, it says where to choose one');
	const seen = await page.run("Array.from(markdown('see `a<b`, *now*, [the cause](StorageUnreadable.md), [a page](../x.md) and 2 * 3 `'), (each) => each.outerHTML || each).flat().join('|')");
	check(seen.startsWith('see |<code>a&lt;b</code>|, |<em>now</em>|, |<a href="runbook/StorageUnreadable">the cause</a>|, |') && !seen.includes('../x'), 'a line of the runbook is code, emphasis and links to causes', seen);
}

async function state({ check, put, open }, page) {
	put('State', document('Running', 'StateLost', 'r', {
		stateLoss: { lost: { path: 's3://b/chk-8' }, reason: 'shared/1 is missing', totalMs: 182000, unixMs: NOW - 74000 }, role: 'owner',
		handover: { state: 'offered', transition: { state: 'crossing', waitsFor: 'the gates', cutUnixMs: NOW - 4000, watermarkUnixMs: NOW - 1000, candidateWatermarkUnixMs: NOW - 2000,
			behindMs: 1000, withheld: 7, above: 2, below: 1, replay: 's3://b/chk-9' } },
		waiting: [{ gate: 'hooks', for: 'the hook 10-x' }], operation: { kind: 'savepoint', reason: 'manual', startedUnixMs: NOW - 31000 },
		lastOperation: { kind: 'stop', ok: false, error: 'it hangs', endedUnixMs: NOW - 9 * MIN }, attempts: { failed: 2, max: 5, windowMs: 10 * MIN },
		journal: { error: 'cannot write' }, control: { error: 'too large' }, lastError: 'it threw', lastErrorLaunch: 5, lastErrorUnixMs: NOW - 3 * MIN,
	}));
	await open(page, 'State');
	const seen = await facts(page);
	const why = await page.run("document.getElementById('why').textContent");
	check(seen['State lost'] === '3 min 2 s of s3://b/chk-8, 03:25:00 (1 min 14 s ago): shared/1 is missing', 'lost state is on the page', seen);
	check(seen.Transition === 'crossing, waits for: the gates' && seen['Cut in event time'] === '2026-11-26T03:26:10.000Z' && seen['Watermark here'] === '2026-11-26T03:26:13.000Z' &&
		seen['Of the next version'] === '2026-11-26T03:26:12.000Z' && seen['Next version behind'] === '1000 ms of event time' &&
		seen.Records === '7 held back here; written twice: 2 at or above the cut, 1 below it' && seen['Starts again from'] === 's3://b/chk-9', 'a transition shows both sides', seen);
	check(seen['Flink reports'] === 'RUNNING' && seen['Tasks running'] === '12 of 12' && seen['Slots used'] === '12 of 12' && seen.TaskManagers === '3' &&
		seen.Launch === '6, 03:13:14 (13 min ago)' && seen['Started from'] === 'checkpoint 249, proven' && seen.Checkpoint === '266, 03:25:50 (24 s ago)' &&
		seen.Savepoint === '247, 03:10:06 (16 min ago), 3.1 GB' && seen.Checkpoints === '17 completed, 0 failed, every 1 min' && seen['Next savepoint'] === 'in 1 h 34 min' &&
		seen['In progress'] === 'savepoint (manual), 03:25:43 (31 s ago)' && seen['Last operation'] === 'stop failed, 03:17:14 (9 min ago): it hangs' &&
		seen['Failed attempts'] === '2 of 5 in 10 min' && seen['Role of this Pod'] === 'owner', 'the state of job, launch, snapshots and operations', seen);
	check(['Waits for the hook 10-x (hooks)', 'Journal cannot write', 'Control inputs too large', 'Last error of launch 5, 03:23:14 (3 min ago)it threw'].every((text) => why.includes(text)), 'what it waits for, and errors', why);
}

async function tables({ check, put, open }, page) {
	const { sp5 } = history();
	put('Tables', document('Holding', 'NewestStateMissing', 'x', { decision: { ...decision('HOLD', 6, 'x', 'x', sp5.path), candidatesLeftOut: 3 } }));
	await open(page, 'Tables');
	const seen = await page.run(`(() => { const rows = (id) => Array.from(document.querySelectorAll('#' + id + ' tbody tr'), (row) => Array.from(row.cells, (each) => each.textContent).join('|'));
		return { candidates: rows('candidates-list'), snapshots: rows('snapshots-list'), launches: rows('launches-list'), conditions: rows('conditions-list'), decision: document.querySelector('#decision').textContent,
			timeline: Array.from(document.querySelectorAll('.timeline li'), (each) => each.textContent), bold: document.querySelector('.timeline li b').textContent }; })()`);
	check(seen.candidates[0] === `rejected offered|savepoint|247|03:10:06 (16 min ago)|3.1 GB|complete|not the newest state on record|${sp5.path}` &&
		seen.decision.includes('HOLD by rule 6, 03:25:56 (18 s ago)') && seen.decision.includes('3 more: drey resolve --explain') && seen.decision.includes('journal present: sequence 812'), 'the last decision', seen);
	check(seen.snapshots.length === 6 && seen.snapshots[3].startsWith('savepoint|201|23 Nov 03:26:14 (3 d ago)|2.9 GB|stop|3|s3://'), 'the snapshots', seen.snapshots);
	check(seen.launches.length === 5 && seen.launches[4].startsWith('1|31 Oct 03:26:14|09 Nov 03:26:34|killed by signal 9|empty|90|g-41|2.3.0|orders-') &&
		seen.launches[3].includes('|checkpoint 90 of launch 1|160|'), 'the launches, the newest first', seen.launches);
	check(seen.conditions[0] === 'Ready|False|NewestStateMissing|03:12:14|x' && seen.timeline[0] === '03:12:16 Holding x' && seen.bold === 'Holding', 'conditions and timeline', [seen.conditions, seen.timeline]);
}

async function picture({ check, put, open }, page) {
	put('Picture', document('Holding', 'NewestStateMissing', 'x'));
	await open(page, 'Picture');
	const seen = await page.run("Array.from(document.querySelectorAll('.lineage .mark title'), (each) => each.textContent)");
	const shapes = await page.run("({ branch: document.querySelectorAll('.lineage .branch').length, abandoned: document.querySelectorAll('.lineage .abandoned').length, held: document.querySelectorAll('.lineage .pause.held').length, present: document.querySelector('.present').textContent })");
	check(['started empty, 31 Oct 03:26:14', 'killed or failed, 09 Nov 03:26:34', 'stopped with a savepoint, 23 Nov 03:26:22', 'in another Pod, 23 Nov 03:27:24', 'savepoint 247, 03:10:06', 'checkpoint 249, 03:12:05']
		.every((text) => seen.includes(text)), 'each mark says what it is', seen);
	check(shapes.branch === 4 && shapes.abandoned === 1 && shapes.held === 1 && shapes.present === 'Holding', 'branches, what was abandoned, and the present', shapes);
	const wrong = await page.run(`(() => {
		const day = 86400000, begin = 1000 * day, wrong = [];
		const near = axis([begin, ...[0, 1, 2, 3].map((i) => begin + 60 * day + i * 3000)], 100, 900);
		if (near(begin) !== 100 || near(begin + 60 * day + 9000) !== 900 || near(begin + 60 * day) <= 500) wrong.push('ends');
		for (const i of [0, 1, 2]) if (near(begin + 60 * day + (i + 1) * 3000) < near(begin + 60 * day + i * 3000) + 40) wrong.push('launches within seconds are not apart');
		const close = axis([1000, 1500, 1000 + 90 * day], 0, 1000);
		if (close(1500) - close(1000) < 10) wrong.push('within a second');
		const all = axis(Array.from({ length: 500 }, (each, i) => 1 + ((i * 7919) % 1000) * ((i * 7919) % 1000)), 0, 1000);
		for (let at = -5, before = 0; at < 1000100; at += 997) { if (all(at) < before || all(at) > 1000) wrong.push(at); before = all(at); }
		if (axis([0, -5], 10, 20)(7) !== 10 || axis([7, 7], 10, 20)(7) !== 10 || axis([7, 7], 10, 20)(9e15) !== 10) wrong.push('one time, and none');
		return wrong; })()`);
	check(!wrong.length, 'launches of seconds and of months are both seen, and later is never left of earlier', wrong);
}

async function anything({ check, put, open }, page) {
	const wrong = [];
	const judge = async (what) => {
		const seen = await page.run(`({ sections: document.querySelectorAll('main > *').length, broken: document.querySelector('main').textContent.includes('cannot be shown'), hacked: window.hacked,
			foreign: document.querySelectorAll('img, iframe, b b, i, script:not([src])').length - 4, unseen: /[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u200b\\u2028-\\u202e\\u2066\\ufeff\\u{e0041}\\u{f0001}]/u.test(document.title + document.getElementById('drey').textContent),
			away: Array.from(document.querySelectorAll('a'), (each) => each.getAttribute('href')).filter((each) => !/^(#why|#snapshots-list|status|metrics|runbook\\/[A-Za-z]+)$/.test(each)) })`);
		if (seen.sections < 2 || seen.broken || seen.hacked || seen.foreign || seen.unseen || seen.away.length) wrong.push([what, seen]);
	};
	for (const [i, status] of ODD.entries()) {
		put('Odd', { nowUnixMs: NOW, ...status });
		await open(page, 'Odd');
		await judge(`document ${i}`);
	}
	check(!wrong.length && !page.problems.length, 'any document gives a page', [...wrong, ...page.problems]);
	for (const text of EVIL) {
		put('Odd', { ...poisoned(document('Running', 'StateLost', 'x', { decision: decision('HOLD', 6, 'x', 'x', 'x'), lastError: 'x', role: 'x', handover: { state: 'x', why: 'x' }, waiting: [{ for: 'x', gate: 'x' }] }), text), cause: 'NewestStateMissing' });
		await open(page, 'Odd');
		await judge(text);
	}
	check(!wrong.length && !page.problems.length, 'a document in which every text is hostile is text', [...wrong, ...page.problems]);
	put('Odd', { phase: 'Holding', nowUnixMs: NOW, reason: 'y'.repeat(10000) });
	await open(page, 'Odd');
	check(await page.run("document.querySelector('.reason').textContent === 'y'.repeat(1500) + '... (8500 more characters)'"), 'a text that is cut says how much is missing');
}

export async function details(tools) {
	const page = await tools.browser.page();
	for (const part of [looks, ways, state, tables, picture, anything]) await part(tools, page);
	await page.close();
}
