// The launches as a picture: one row a launch, the newest on top, time to the right. When each began and ended and what of
// it was abandoned, drey has decided (`lineage` of the status); here it is only drawn. What is in the picture is also in
// the table of the launches, for those who do not see it.
'use strict';

const PICTURE = { width: 1000, left: 150, right: 976, top: 16, row: 30 };
const SHAPES = {
	dot: ['circle', { r: 4 }], ring: ['circle', { r: 5 }], diamond: ['path', { d: 'M0-6L6 0L0 6L-6 0Z' }],
	cross: ['path', { d: 'M-5-5L5 5M-5 5L5-5' }], bars: ['path', { d: 'M-3-6V6M3-6V6' }], end: ['path', { d: 'M0-6V6' }],
	exchange: ['path', { d: 'M-6-3H5L2-6M6 3H-5L-2 6' }], dash: ['path', { d: 'M-8 0H8' }],
};
const LEGEND = [
	['mark checkpoint', 'dot', 'newest checkpoint'], ['mark savepoint', 'diamond', 'savepoint'], ['mark empty', 'ring', 'started empty'],
	['mark killed', 'cross', 'killed or failed'], ['mark stopped', 'bars', 'stopped with a savepoint'], ['mark moved', 'exchange', 'in another Pod'],
	['life abandoned', 'dash', 'abandoned'], ['pause held', 'dash', 'holding or failed'], ['pause parked', 'dash', 'parked'],
];

// Launches that follow each other within seconds and one that ran for months must both be seen. So the axis is made of the
// times of what is drawn: in between, the width grows with the logarithm of the time. Gives the x of a time.
function axis(times, fromX, toX) {
	const at = Array.from(new Set(times.filter((each) => each > 0))).sort((a, b) => a - b);
	const xs = [];
	let whole = 0;
	at.forEach((each, i) => {
		whole += i ? 0.5 + Math.log2((each - at[i - 1]) / 1000 + 1) : 0;
		xs.push(whole);
	});
	const x = xs.map((each) => fromX + (whole ? (each * (toX - fromX)) / whole : 0));
	return function (unixMs) {
		const next = at.findIndex((each) => each >= unixMs);
		if (!at.length) return fromX;
		if (next < 0) return Math.round(x[x.length - 1]);
		if (!next || at[next] === unixMs) return Math.round(x[next]);
		const part = (unixMs - at[next - 1]) / (at[next] - at[next - 1]);
		return Math.round(x[next - 1] + part * (x[next] - x[next - 1]));
	};
}

// ---- what is in the picture

function readRow(launch, status) {
	const number = num(launch.launch);
	const known = obj(list(status.launches).find((each) => num(obj(each).number) === number));
	const savepoints = list(status.snapshots).map(obj)
		.filter((each) => num(each.launch) === number && each.kind === 'savepoint' && date(each.completedAt) > 0);
	return { ...launch, number, from: num(launch.fromUnixMs), until: num(launch.untilUnixMs), checkpoint: obj(known.lastCheckpoint), savepoints };
}

function timesOf(row) {
	return [row.from, row.until, num(row.checkpoint.completedUnixMs), ...row.savepoints.map((each) => date(each.completedAt))];
}

function readPicture(status) {
	const lineage = obj(status.lineage);
	const rows = list(lineage.launches).map((each) => readRow(obj(each), status));
	const pauses = list(lineage.pauses).map(obj);
	const first = rows.length ? rows[rows.length - 1].from : 0;
	const times = [nowMs, ...rows.flatMap(timesOf), ...pauses.map((each) => num(each.fromUnixMs))];
	const picture = { rows, pauses, x: axis(times.filter((each) => each >= first), PICTURE.left, PICTURE.right) };
	// what lasts has a row of its own, above all
	picture.present = rows.length && pauses.some((each) => num(each.untilUnixMs) > rows[0].from);
	picture.y = (i) => PICTURE.top + (i + (picture.present ? 1 : 0)) * PICTURE.row;
	return picture;
}

// ---- drawing

function span(picture, kind, from, until, y) {
	const start = picture.x(from);
	return svg('path', { class: kind, d: `M${start} ${y}H${Math.max(picture.x(until), start + 1)}` });
}

function shape(name) {
	return svg(...SHAPES[name]);
}

// A mark with its explanation.
function mark(kind, name, x, y, what, id, unixMs) {
	return svg('g', { class: `mark ${kind}`, transform: `translate(${x} ${y})` },
		svg('title', null, `${what}${id > 0 ? ` ${id}` : ''}, ${clock(unixMs)}`), shape(name));
}

// From what it was started from to its start.
function drawBranch(picture, row, i) {
	const parent = picture.rows.findIndex((each) => each.number > 0 && each.number === row.restoredFromLaunch);
	if (parent < 0 || !num(row.restoredUnixMs)) return null;
	const [from, to, y] = [picture.x(row.restoredUnixMs), picture.x(row.from), picture.y(i)];
	return svg('path', { class: 'branch', d: `M${from} ${picture.y(parent)}C${from} ${y + PICTURE.row / 2} ${(from + to) / 2} ${y} ${to} ${y}` });
}

function drawLife(picture, row, i) {
	const end = num(row.abandonedUnixMs) || row.until;
	const y = picture.y(i);
	return [end > row.from ? span(picture, row.ended ? 'life' : 'life alive', row.from, end, y) : null,
		end < row.until ? span(picture, 'life abandoned', end, row.until, y) : null];
}

function drawSnapshots(picture, row, i) {
	const done = num(row.checkpoint.completedUnixMs);
	return [done > 0 ? mark('checkpoint', 'dot', picture.x(done), picture.y(i), 'checkpoint', num(row.checkpoint.id), done) : null,
		row.savepoints.map((each) => mark('savepoint', 'diamond', picture.x(date(each.completedAt)), picture.y(i), 'savepoint',
			num(each.checkpointId), date(each.completedAt)))];
}

function drawEnds(picture, row, i) {
	const [start, end, y] = [picture.x(row.from), picture.x(row.until), picture.y(i)];
	const ends = {
		stopped: ['stopped', 'bars', end + 6, 'stopped with a savepoint'], exited: ['ended', 'end', end, 'ended'],
		failed: ['killed', 'cross', end, 'killed or failed'],
	};
	const [kind, name, x, what] = ends[str(row.ended)] || ['alive', 'dot', end, 'now'];
	return [row.empty ? mark('empty', 'ring', start, y, 'started empty', 0, row.from) : mark('start', 'end', start, y, 'started', 0, row.from),
		row.otherPod ? mark('moved', 'exchange', start - 14, y, 'in another Pod', 0, row.from) : null,
		mark(kind, name, x, y, what, 0, row.until)];
}

function drawLabel(picture, row, i) {
	return svg('text', { x: 0, y: picture.y(i) + 4 }, svg('tspan', { class: 'n' }, row.number), ` ${clock(row.from)}`);
}

// A pause belongs to the launch that ended it; one that lasts has the row above all.
function drawPause(picture, pause) {
	const row = picture.rows.map((each) => each.from >= num(pause.untilUnixMs)).lastIndexOf(true);
	return span(picture, pause.parked ? 'pause parked' : 'pause held', num(pause.fromUnixMs), num(pause.untilUnixMs),
		row < 0 ? PICTURE.top : picture.y(row));
}

function drawLegend() {
	return el('ul', { class: 'legend' }, LEGEND.map(([kind, name, what]) => el('li', null,
		svg('svg', { width: 20, height: 16, viewBox: '-10 -8 20 16', 'aria-hidden': 'true' }, svg('g', { class: kind }, shape(name))), what)));
}

function draw(picture, phase) {
	const { rows } = picture;
	const height = picture.y(rows.length) + 8;
	const each = (drawOne) => rows.map((row, i) => drawOne(picture, row, i));
	return svg('svg', { class: 'lineage', viewBox: `0 0 ${PICTURE.width} ${height}`, width: PICTURE.width, height, role: 'img', 'aria-labelledby': 'lineage-t' },
		svg('title', { id: 'lineage-t' }, `The newest ${rows.length} launches, one row each, the newest on top, time to the right; the table of the launches below has the same`),
		rows.map((row, i) => svg('path', { class: 'guide', d: `M${PICTURE.left} ${picture.y(i)}H${PICTURE.right}` })),
		each(drawBranch), picture.pauses.map((pause) => drawPause(picture, pause)),
		rows.map((row, i) => [drawLabel, drawLife, drawSnapshots, drawEnds].map((drawOne) => drawOne(picture, row, i))),
		picture.present ? svg('text', { class: 'present', x: 0, y: PICTURE.top + 4 }, cut(phase, 24)) : null,
		svg('text', { class: 'axis', x: PICTURE.left, y: height - 6 }, 'time to the right; quiet stretches are shortened'));
}

function lineageSection(status) {
	const picture = readPicture(status);
	if (!picture.rows.length) return null;
	return section('lineage', 'Lineage',
		el('div', { class: 'scroll picture', tabindex: 0, role: 'region', 'aria-label': 'Picture of the launches' }, draw(picture, str(status.phase))),
		drawLegend());
}
