// The sections of the page, each from the status document. A section that has nothing to show is null. What is a decision
// is one of drey's, and in the document: since when, the ways out, what they lose. Here is only what stands where.
'use strict';

const ROWS = 64; // of one table
const TRANSITIONS = 8; // that are seen at first sight
const PHASE_LENGTH = 24; // a longer word is not one

function section(id, title, ...children) {
	return el('section', { id, 'aria-labelledby': `${id}-h` }, el('h2', { id: `${id}-h` }, title), children);
}

// What is not needed at first sight.
function folded(id, title, count, ...children) {
	return el('details', { id }, el('summary', null, el('h2', null, title), ' ', el('span', null, count)), children);
}

// A table that scrolls on its own.
function table(id, label, heads, rows) {
	return el('div', { class: 'scroll', id: `${id}-list`, tabindex: 0, role: 'region', 'aria-label': label },
		el('table', null, el('thead', null, el('tr', null, heads.map((head) => el('th', null, head)))), el('tbody', null, rows)));
}

function row(cells, kind = null) {
	return el('tr', { class: kind }, cells.map((cell) => el('td', null, cell)));
}

function pathRow(cells, value, kind = null) {
	const line = row(cells, kind);
	line.append(el('td', { class: 'paths' }, path(value)));
	return line;
}

function positive(value) {
	return num(value) > 0 ? value : null;
}

// ---- why

function unready(status) {
	const ready = list(status.conditions).map(obj).find((each) => each.type === 'Ready');
	return status.phase === 'Running' && ready !== undefined && ready.status !== 'True';
}

function facts(status) {
	const desired = obj(status.desired);
	const retry = num(status.retryInMs, -1);
	return el('ul', { class: 'facts' },
		num(status.sinceUnixMs) > 0 ? el('li', null, 'since ', time(status.sinceUnixMs), ` (${duration(nowMs - status.sinceUnixMs)})`) : null,
		retry >= 0 ? el('li', null, `drey looks again ${retry < 1000 ? 'now' : `in ${duration(retry)}`}`) : null,
		str(desired.state) ? el('li', null, 'desired: ', el('b', null, text(desired.state))) : null,
		desired.doNotRestart === true ? el('li', { class: 'failed' }, 'do-not-restart is on') : null);
}

function waiting(status) {
	return list(status.waiting).map(obj).map((each) => el('p', { class: 'note' }, 'Waits for ', text(each.for), ' (', text(each.gate), ')'));
}

function command(line) {
	return el('div', { class: 'cmd' }, el('code', { dir: 'ltr' }, line), el('button', { type: 'button', class: 'copy' }, 'Copy'));
}

function wayOut(way) {
	const lost = num(way.lostMs) > 0 ? [el('strong', null, duration(way.lostMs)), ': '] : null;
	return el('li', null, el('p', null, markdown(way.text)), list(way.commands).filter(str).map(command),
		str(way.loses) ? el('p', { class: way.losesNothing === true ? 'loses none' : 'loses' }, 'loses ', lost, markdown(way.loses)) : null);
}

function runbook(status) {
	const book = obj(status.runbook);
	const ways = list(book.ways).map(obj);
	if (!str(book.page)) return null;
	return [el('p', { class: 'means' }, markdown(book.means), ' ', el('a', { href: `runbook/${encodeURIComponent(book.page)}` }, 'What it means')),
		ways.length ? [el('h3', null, 'Ways out'), el('ol', { class: 'ways' }, ways.map(wayOut))] : null,
		ways.some((way) => way.choosePath === true)
			? el('p', { class: 'note' }, el('code', null, 'PATH'), ' is one of the ', el('a', { href: '#snapshots-list' }, 'snapshots'), '.') : null];
}

// Errors that have a place of their own in the document.
function errors(status) {
	const places = [['Journal', obj(status.journal).error], ['Control inputs', obj(status.control).error]];
	const launch = num(status.lastErrorLaunch) > 0 ? ` of launch ${status.lastErrorLaunch}` : '';
	return [places.filter(([, error]) => str(error)).map(([place, error]) => el('p', { class: 'error' }, el('b', null, place), ' ', text(error))),
		str(status.lastError)
			? el('details', { id: 'last-error', class: 'error', open: '' },
				el('summary', null, `Last error${launch}, `, since(status.lastErrorUnixMs)), el('pre', null, text(status.lastError)))
			: null];
}

function whySection(status) {
	return section('why', str(status.cause) ? text(status.cause) : status.starting ? 'Starting' : 'Now', facts(status),
		str(status.reason) ? el('p', { class: 'reason' }, prose(status.reason)) : null,
		waiting(status), runbook(status), errors(status));
}

// ---- the state

function fact(name, ...children) {
	return el('div', null, el('dt', null, name), el('dd', null, children));
}

// "12 of 12" with a bar; none without a total.
function share(name, part, total) {
	return fact(name, `${part} of ${total}`, total > 0 ? el('meter', { min: 0, max: total, value: part, 'aria-label': name }) : null);
}

function jobFacts(status) {
	const [job, tasks, slots] = [obj(status.job), obj(status.tasks), obj(status.slots)];
	return [str(job.state) ? fact('Flink reports', text(job.state), num(job.restarts) > 0 ? `, ${job.restarts} restarts` : null) : null,
		given(status.tasks) ? share('Tasks running', num(tasks.running), num(tasks.total)) : null,
		given(status.slots) ? share('Slots used', num(slots.total) - num(slots.free), num(slots.total)) : null,
		num(status.taskManagers, -1) >= 0 ? fact('TaskManagers', status.taskManagers) : null];
}

function launchFacts(status) {
	const launch = obj(status.launch);
	const restore = obj(launch.restorePoint);
	const proof = launch.proven === true ? ', proven' : launch.restoreVerified === true ? ', verified' : ', not verified yet';
	if (!given(status.launch)) return null;
	return [fact('Launch', `${num(launch.number)}, `, since(launch.startedUnixMs)),
		fact('Started from', given(launch.restorePoint) ? [text(restore.kind), num(restore.checkpointId) > 0 ? ` ${restore.checkpointId}` : null] : 'nothing (empty)', proof)];
}

function snapshotFact(status, name, snapshot, id) {
	const known = obj(list(status.snapshots).find((each) => str(snapshot.path) && obj(each).path === snapshot.path));
	return fact(name, num(id) > 0 ? `${id}, ` : null, since(snapshot.completedUnixMs), size(known.sizeBytes) ? `, ${size(known.sizeBytes)}` : null);
}

function checkpointFacts(status) {
	const [last, savepoint, counts] = [obj(status.lastCheckpoint), obj(status.lastSavepoint), obj(status.checkpoints)];
	return [given(status.lastCheckpoint) ? snapshotFact(status, 'Checkpoint', last, last.id) : null,
		given(status.lastSavepoint) ? snapshotFact(status, 'Savepoint', savepoint, savepoint.checkpointId) : null,
		given(status.checkpoints)
			? fact('Checkpoints', `${num(counts.completed)} completed, ${num(counts.failed)} failed`,
				num(counts.intervalMs) > 0 ? `, every ${duration(counts.intervalMs)}` : null, str(counts.failure) ? ['; ', text(counts.failure)] : null)
			: null];
}

// What a launch has given up, until that is settled.
function lossFact(status) {
	const loss = obj(status.stateLoss);
	if (!given(status.stateLoss)) return null;
	return fact('State lost', el('b', { class: 'failed' }, duration(loss.totalMs)), ' of ', text(obj(loss.lost).path), ', ', since(loss.unixMs),
		str(loss.reason) ? [': ', text(loss.reason)] : null);
}

function operationFacts(status) {
	const [now, last] = [obj(status.operation), obj(status.lastOperation)];
	return [given(status.operation) ? fact('In progress', text(now.kind), ' (', text(now.reason), '), ', since(now.startedUnixMs)) : null,
		given(status.lastOperation)
			? fact('Last operation', text(last.kind), last.ok === true ? ' done, ' : [' ', el('b', { class: 'failed' }, 'failed'), ', '], since(last.endedUnixMs),
				str(last.error) ? [': ', text(last.error)] : null)
			: null,
		num(status.nextSavepointInMs, -1) >= 0 ? fact('Next savepoint', `in ${duration(status.nextSavepointInMs)}`) : null];
}

function attemptsFact(status) {
	const attempts = obj(status.attempts);
	return given(status.attempts) ? fact('Failed attempts', `${num(attempts.failed)} of ${num(attempts.max)} in ${duration(attempts.windowMs)}`) : null;
}

function handoverFacts(status) {
	const [handover, role, owner] = [obj(status.handover), str(status.role), str(obj(status.owner).pod)];
	const [state, to] = [str(handover.state), str(obj(handover.to).pod)];
	if (!role) return null;
	return [fact('Role of this Pod', text(role), owner && role !== 'owner' ? ['; the owner is ', text(owner)] : null),
		state && state !== 'none'
			? fact('Hand-over', text(state), to ? [' to ', text(to)] : null, ', ', since(handover.stateUnixMs), str(handover.why) ? [': ', text(handover.why)] : null)
			: null];
}

// Both versions run for a while: how far each of them is, and what their gates have counted.
function transitionFacts(status) {
	const change = obj(obj(status.handover).transition);
	const times = [['Cut in event time', 'cutUnixMs'], ['Watermark here', 'watermarkUnixMs'], ['Of the next version', 'candidateWatermarkUnixMs']];
	const [above, below, withheld] = [num(change.above), num(change.below), num(change.withheld)];
	if (!str(status.role) || !given(obj(status.handover).transition)) return null;
	return [fact('Transition', text(change.state), str(change.waitsFor) ? [', waits for: ', text(change.waitsFor)] : null),
		times.filter(([, member]) => iso(change[member])).map(([name, member]) => fact(name, el('bdi', null, iso(change[member])))),
		Number.isFinite(change.behindMs) ? fact('Next version behind', `${change.behindMs} ms of event time`) : null,
		above > 0 || below > 0 || withheld > 0
			? fact('Records', `${withheld} held back here; written twice: ${change.inexact === true ? 'at least ' : ''}${above} at or above the cut, ${below} below it`) : null,
		str(change.replay) ? fact('Starts again from', text(change.replay)) : null];
}

function nowSection(status) {
	return section('now', 'State', el('dl', null,
		[jobFacts, launchFacts, checkpointFacts, lossFact, operationFacts, attemptsFact, handoverFacts, transitionFacts].map((each) => each(status))));
}

// ---- the decision

function candidate(each) {
	return pathRow([[text(each.verdict), each.offered === true ? [' ', el('b', null, 'offered')] : null], text(each.kind), positive(each.checkpointId),
		since(each.completedUnixMs), size(each.sizeBytes), text(each.integrity), text(each.reason)], each.path, each.verdict === 'chosen' ? 'chosen' : null);
}

function source(each) {
	return el('li', { class: each.state === 'unreadable' ? 'unread' : null }, el('b', null, text(each.name)), ' ', text(each.state),
		str(each.detail) ? [': ', text(each.detail)] : null);
}

function decisionSection(status) {
	const decision = obj(status.decision);
	const [sources, candidates] = [list(decision.sources).map(obj), list(decision.candidates).map(obj)];
	if (!given(status.decision)) return null;
	return section('decision', 'Last decision',
		el('p', null, el('b', null, text(decision.decision)), ' ', num(decision.rule) > 0 ? `by rule ${decision.rule}, ` : null, since(decision.unixMs)),
		sources.length ? el('ul', { class: 'sources' }, sources.map(source)) : null,
		candidates.length
			? table('candidates', 'Candidates', ['Verdict', 'Kind', 'Id', 'Completed', 'Size', 'Files', 'Why', 'Path'], candidates.slice(0, ROWS).map(candidate)) : null,
		num(decision.candidatesLeftOut) > 0 ? el('p', { class: 'note' }, `${decision.candidatesLeftOut} more: `, el('code', null, 'drey resolve --explain')) : null);
}

// ---- the rest

// "Holding: why": the phase stands out.
function transition(each) {
	const [whole, phase, reason] = /^([^:]*): ?(.*)$/su.exec(str(each.text)) || [str(each.text), '', ''];
	const known = phase && phase.length < PHASE_LENGTH;
	return el('li', null, time(each.unixMs), ' ', known ? [el('b', null, phase), ' '] : null, prose(known ? reason : whole));
}

// The last ones, the newest first; earlier ones on request.
function timelineSection(status) {
	const all = list(status.transitions).map(obj).reverse().slice(0, ROWS).map(transition);
	const earlier = all.slice(TRANSITIONS);
	if (!all.length) return null;
	return section('timeline', 'Timeline', el('ol', { class: 'timeline' }, all.slice(0, TRANSITIONS)),
		earlier.length ? el('details', { id: 'earlier' }, el('summary', null, 'Earlier'), el('ol', { class: 'timeline' }, earlier)) : null);
}

function snapshotsSection(status) {
	const all = list(status.snapshots).map(obj);
	return folded('snapshots', 'Snapshots', all.length, table('snapshots', 'Snapshots', ['Kind', 'Id', 'Completed', 'Size', 'Origin', 'Launch', 'Path'],
		all.slice(0, ROWS).map((each) => pathRow([text(each.kind), positive(each.checkpointId), since(date(each.completedAt)), size(each.sizeBytes), text(each.origin),
			positive(each.launch)], each.path))));
}

function launchRow(each) {
	const restore = obj(each.restorePoint);
	const from = [given(each.restorePoint) ? null : 'empty', text(restore.kind), num(restore.checkpointId) > 0 ? ` ${restore.checkpointId}` : null,
		num(each.restoredFromLaunch) > 0 ? ` of launch ${each.restoredFromLaunch}` : null];
	return row([positive(each.number), time(each.startedUnixMs), time(each.endedUnixMs), text(each.end), from, positive(obj(each.lastCheckpoint).id),
		text(each.generation), text(each.flinkVersion), text(each.pod)]);
}

function launchesSection(status) {
	const all = list(status.launches).map(obj).reverse();
	if (!all.length) return null;
	return folded('launches', 'Launches', all.length, table('launches', 'Launches',
		['Launch', 'Started', 'Ended', 'End', 'From', 'Last checkpoint', 'Generation', 'Flink', 'Pod'], all.slice(0, ROWS).map(launchRow)));
}

function conditionsSection(status) {
	const all = list(status.conditions).map(obj);
	if (!all.length) return null;
	return folded('conditions', 'Conditions', all.length, table('conditions', 'Conditions', ['Condition', 'Status', 'Reason', 'Since', 'Message'],
		all.map((each) => row([text(each.type), text(each.status), text(each.reason), time(date(each.lastTransitionTime)), text(each.message)]))));
}
