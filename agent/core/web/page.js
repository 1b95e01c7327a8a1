// Reads the status while somebody looks at the page, and shows it: what has changed is changed, and the rest is not touched,
// so focus, selection, scroll positions and open parts stay. Until the first answer, and if there is none, the summary of
// the server is there.
(function () {
	'use strict';
	const EVERY_MS = 5000;
	const PATIENCE_MS = 4000;
	// the colours of the icon; any other phase is under way
	const COLOURS = { good: '2e8b57', bad: 'c0392b', parked: '6b7280', aside: '7857c7', busy: '2f6fc4' };
	const TONES = {
		Running: 'good', Finished: 'good', Holding: 'bad', Failed: 'bad', Suspended: 'parked', Cancelled: 'parked',
		Standby: 'aside', Prepared: 'aside', HandedOver: 'aside', Shadow: 'aside',
	};
	const drey = document.getElementById('drey');
	// as the server knows them, until a status says more
	let name = drey.querySelector('h1').textContent;
	let timer = 0;
	let busy = false;
	let known = false; // is more than the summary shown?

	function say(line) {
		const at = document.getElementById('refresh');
		if (at.textContent !== line) at.textContent = line;
	}

	// ---- make what is there like what is wanted

	function sameKind(a, b) {
		return a.nodeType === b.nodeType && a.nodeName === b.nodeName && (a.id || '') === (b.id || '');
	}

	function attributes(from, to) {
		// what the reader has opened stays open
		const keep = from.nodeName === 'DETAILS' ? 'open' : '';
		for (const each of Array.from(from.attributes))
			if (each.name !== keep && !to.hasAttribute(each.name)) from.removeAttribute(each.name);
		for (const each of Array.from(to.attributes))
			if (each.name !== keep && from.getAttribute(each.name) !== each.value) from.setAttribute(each.name, each.value);
	}

	// The nodes from this one up to that one go; NULL: all that follow.
	function dropUntil(at, end) {
		while (at !== end) {
			const gone = at;
			at = at.nextSibling;
			gone.remove();
		}
	}

	function sameLater(at, wanted) {
		let later = wanted.id ? at.nextSibling : null;
		while (later && !sameKind(later, wanted)) later = later.nextSibling;
		return later;
	}

	function children(from, to) {
		let at = from.firstChild;
		for (const each of Array.from(to.childNodes)) {
			if (at && !sameKind(at, each)) {
				const later = sameLater(at, each);
				if (!later) {
					from.insertBefore(each, at);
					continue;
				}
				// whole sections that went
				dropUntil(at, later);
				at = later;
			}
			if (at) {
				morph(at, each);
				at = at.nextSibling;
			} else {
				from.append(each);
			}
		}
		dropUntil(at, null);
	}

	function morph(from, to) {
		if (from.nodeType === Node.TEXT_NODE) {
			if (from.data !== to.data) from.data = to.data;
		} else if (from.nodeType === Node.ELEMENT_NODE) {
			attributes(from, to);
			children(from, to);
		}
	}

	// ---- the page of a status

	function where(status) {
		const agent = obj(status.agent);
		const flink = obj(status.launch).flinkVersion;
		return el('p', { class: 'where' }, 'drey ', text(agent.version), str(flink) ? [' \u00b7 Flink ', text(flink)] : null,
			str(agent.pod) ? [' \u00b7 Pod ', text(agent.pod)] : null);
	}

	function header(status, phase) {
		return el('header', null, el('h1', null, el('bdi', null, name)),
			el('p', { class: 'phase', role: 'status' }, text(phase), unready(status) ? ', not ready' : null),
			given(status.agent) ? where(status) : drey.querySelector('.where').cloneNode(true));
	}

	// One section that cannot be shown must not take the others with it.
	function shown(build, status) {
		try {
			return build(status);
		} catch (why) {
			console.error(why);
			return el('p', { class: 'error' }, 'A part of the page cannot be shown; the status has all of it.');
		}
	}

	function main(status) {
		const rest = [nowSection, lineageSection, decisionSection, timelineSection, snapshotsSection, launchesSection, conditionsSection];
		return el('main', null, shown(whySection, status), status.starting ? null : rest.map((each) => shown(each, status)));
	}

	function icon(colour) {
		const link = document.querySelector('link[rel=icon]');
		const href = link.getAttribute('href').replace(/%23[0-9a-f]{6}/, `%23${colour}`);
		if (link.getAttribute('href') !== href) link.setAttribute('href', href);
	}

	function show(status) {
		const phase = str(status.phase);
		const tone = TONES[phase] || 'busy';
		const look = unready(status) ? 'warn' : tone;
		nowMs = num(status.nowUnixMs) || Date.now();
		if (str(status.application)) name = cut(visible(status.application), 100);
		morph(drey.querySelector('header'), header(status, phase));
		morph(drey.querySelector('main'), main(status));
		morph(document.getElementById('as-of'), el('span', { id: 'as-of' }, time(nowMs), ' UTC'));
		const title = `${cut(visible(phase), 100)} - ${name} - drey`;
		if (document.title !== title) document.title = title;
		if (drey.className !== look) drey.className = look;
		icon(COLOURS[tone]);
	}

	// ---- news

	// While drey starts it has no status, and says so.
	async function read() {
		const control = new AbortController();
		const patience = setTimeout(function () { control.abort(); }, PATIENCE_MS);
		try {
			const answer = await fetch('status', { cache: 'no-store', signal: control.signal });
			const status = await answer.json();
			if (answer.ok && str(status.phase)) return status;
			if (answer.status !== 503 || !str(status.error)) throw new Error(String(answer.status));
			return { starting: true, phase: 'Starting', reason: 'the journal is being read' };
		} finally {
			clearTimeout(patience);
		}
	}

	async function refresh() {
		if (busy || document.hidden) return;
		busy = true;
		try {
			show(await read());
			known = true;
			document.documentElement.classList.remove('stale', 'alone');
			say('Refreshed every 5 s.');
		} catch (why) {
			document.documentElement.classList.add(known ? 'stale' : 'alone');
			say(known ? 'drey does not answer; this is what it said last.' : 'The status cannot be read; this is a summary. Reload the page for news.');
		}
		busy = false;
	}

	function watch() {
		clearInterval(timer);
		timer = 0;
		if (document.hidden) return;
		refresh();
		timer = setInterval(refresh, EVERY_MS);
	}

	// ---- commands

	function copied(button, label) {
		button.textContent = label;
		setTimeout(function () { button.textContent = 'Copy'; }, 1500);
	}

	document.addEventListener('click', function (event) {
		const button = event.target.closest('.copy');
		if (!button) return;
		const code = button.previousElementSibling;
		const range = document.createRange();
		range.selectNodeContents(code);
		const selection = getSelection();
		selection.removeAllRanges();
		selection.addRange(range);
		// without https there is no clipboard: then it is selected
		if (navigator.clipboard)
			navigator.clipboard.writeText(code.textContent).then(function () { copied(button, 'Copied'); }, function () { copied(button, 'Selected'); });
		else
			copied(button, document.execCommand('copy') ? 'Copied' : 'Selected');
	});
	document.addEventListener('visibilitychange', watch);
	document.documentElement.classList.add('js');
	watch();
})();
