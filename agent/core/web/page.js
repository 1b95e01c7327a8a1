// Fetches the page again while somebody looks at it, and changes what has changed: focus, selection, scroll positions and
// open parts stay.
(function () {
	'use strict';
	const EVERY_MS = 5000;
	let timer = 0;
	let busy = false;

	function say(text) {
		const at = document.getElementById('refresh');
		if (at && at.textContent !== text) at.textContent = text;
	}

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

	// Make `from` like `to`.
	function morph(from, to) {
		if (from.nodeType === Node.TEXT_NODE) {
			if (from.data !== to.data) from.data = to.data;
			return;
		}
		if (from.nodeType !== Node.ELEMENT_NODE || from.id === 'refresh') return;
		attributes(from, to);
		const wanted = Array.from(to.childNodes);
		let at = from.firstChild;
		for (const each of wanted) {
			if (at && !sameKind(at, each)) {
				// a whole section that came or went
				let later = at.nextSibling;
				while (later && !(each.id && sameKind(later, each))) later = later.nextSibling;
				if (later) {
					while (at !== later) {
						const gone = at;
						at = at.nextSibling;
						gone.remove();
					}
				} else {
					from.insertBefore(document.importNode(each, true), at);
					continue;
				}
			}
			if (at) {
				morph(at, each);
				at = at.nextSibling;
			} else {
				from.appendChild(document.importNode(each, true));
			}
		}
		while (at) {
			const gone = at;
			at = at.nextSibling;
			gone.remove();
		}
	}

	async function refresh() {
		if (busy || document.hidden) return;
		busy = true;
		try {
			const answer = await fetch('/', { cache: 'no-store', credentials: 'omit', signal: AbortSignal.timeout(4000) });
			if (!answer.ok) throw new Error(String(answer.status));
			const news = new DOMParser().parseFromString(await answer.text(), 'text/html');
			const from = document.getElementById('drey');
			const to = news.getElementById('drey');
			if (!to) throw new Error('not a page of drey');
			morph(from, to);
			if (document.title !== news.title) document.title = news.title;
			const icon = document.querySelector('link[rel=icon]');
			const other = news.querySelector('link[rel=icon]');
			if (icon && other && icon.getAttribute('href') !== other.getAttribute('href')) icon.setAttribute('href', other.getAttribute('href'));
			document.documentElement.classList.remove('stale');
			say('Refreshed every 5 s.');
		} catch (why) {
			document.documentElement.classList.add('stale');
			say('drey does not answer; this is what it said last.');
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

	function copied(button, text) {
		button.textContent = text;
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
	say('Refreshed every 5 s.');
	timer = setInterval(refresh, EVERY_MS);
})();
